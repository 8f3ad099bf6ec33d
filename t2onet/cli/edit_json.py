"""The output of `t2o edit --json`: a list with one entry for each photo.

Fields are added but never removed. `docs/edit-json.md` and `docs/edit.schema.json` are generated from here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ..editor import DeclinedEntry, LimitEntry, StepEntry, WishEntry, summarize_steps
from ..errors import RecipeError
from ..options import Mode, ReaderName

if TYPE_CHECKING:
    from ..editor import Edit
    from ..recipe import Recipe
    from .apply import PhotoReport

EDIT_JSON_VERSION: Literal[1] = 1


class _EditJsonEntry(BaseModel):
    model_config = ConfigDict(frozen=True)  # further fields are allowed, so that old schemas fit new answers


class VariantEntry(_EditJsonEntry):
    """An answer and its files; there is one without `--variants`."""

    number: int = Field(description="From 1.")
    outcome: Literal["done", "skipped"] = Field(
        description="Whether any of its files was written (done), or all of them existed (skipped)."
    )
    picture: str = Field(description="Path of the picture.")
    sidecar: str | None = Field(description="Path of its recipe; null with `--no-sidecar`.")
    description: str = Field(description="What the recipe does, in one sentence.")
    settings: str = Field(description="Its numbers as photographers write them: Exposure +0.50 EV, tint -3.")
    recipe: dict[str, Any] | None = Field(
        description="The recipe as in the sidecar, see recipes.md; null for an existing picture without one."
    )
    steps: list[StepEntry] = Field(description="The steps of the recipe.")


class ErrorEntry(_EditJsonEntry):
    """Why a photo was refused."""

    kind: str = Field(description="Declined for a request that cannot be answered, or a class of errors.md.")
    message: str = Field(description="What was given, why it was refused, what to do.")


class PhotoEntry(_EditJsonEntry):
    """The result for one photo."""

    schema_version: Literal[1] = Field(description="1; changes only if fields lose their meaning.")
    source: str = Field(description="Path of the photo.")
    target: str = Field(description="Path of its result; of the first variant where there are several.")
    outcome: Literal["done", "skipped", "refused"] = Field(
        description="skipped: with `--skip-existing`, all of its files exist already."
    )
    notes: list[str] = Field(description="What the format of the result could not keep.")
    error: str | None = Field(description="Why the photo was refused, in words; null otherwise.")
    errors: list[ErrorEntry] = Field(description="The same by kind; empty unless the photo was refused.")
    request: str = Field(description="What was asked for.")
    mode: Mode = Field(description="How the request was taken.")
    reader: ReaderName | None = Field(
        description="What read the request, see `--reader`; null for a network that reads it itself."
    )
    strength: float = Field(description="1 is the answer as it is.")
    explanation: str = Field(
        description="What was done and why, as `t2o edit` prints it; empty if nothing was."
    )
    told: str = Field(description="The old name of `explanation`.")
    sidecar: str | None = Field(description="As in the first variant.")
    description: str = Field(description="As in the first variant; empty where the photo was refused.")
    settings: str = Field(description="As in the first variant; empty where the photo was refused.")
    recipe: dict[str, Any] | None = Field(description="As in the first variant.")
    steps: list[StepEntry] = Field(description="As in the first variant.")
    variants: list[VariantEntry] = Field(description="Every answer; empty where the photo was refused.")
    declined: list[DeclinedEntry] = Field(description="Parts of the request that were not answered.")
    limits: list[LimitEntry] = Field(description="What had to stay, and whether it did.")
    wishes: list[WishEntry] = Field(description="What was read in the request, and what became of it.")
    guide: str | None = Field(
        description="With `--consistent`, the photo of the same scene whose answer it follows, which may be "
        "itself; null otherwise."
    )


def make_edit_json_schema() -> dict[str, Any]:
    """The JSON schema of the whole output."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "t2o edit --json",
        **TypeAdapter(list[PhotoEntry]).json_schema(mode="serialization"),
    }


@dataclass(frozen=True)
class VariantFiles:
    """An answer and its files; `reasons` are the words that led to each step."""

    picture: Path
    sidecar: Path | None
    recipe: Recipe | None
    reasons: Sequence[Sequence[str]]
    written: bool


@dataclass(frozen=True)
class EditDetails:
    """Details of a report of `t2o edit`.

    They do not hold the edit: with its photo, the reports of a folder would fill the memory.
    """

    variants: tuple[VariantFiles, ...] = ()
    declined: tuple[DeclinedEntry, ...] = ()
    limits: tuple[LimitEntry, ...] = ()
    wishes: tuple[WishEntry, ...] = ()
    guide: Path | None = None

    @classmethod
    def from_edit(
        cls, edit: Edit, variants: tuple[VariantFiles, ...] = (), guide: Path | None = None
    ) -> EditDetails:
        wishes = tuple(map(WishEntry.from_wish, edit.wishes))
        return cls(variants, edit.declined, edit.limits, wishes, guide)


def read_existing_variant(picture: Path, sidecar: Path | None) -> VariantFiles:
    """An existing variant, with the recipe of its sidecar if that can be read."""
    from ..recipe import Recipe

    try:
        recipe = None if sidecar is None else Recipe.load(sidecar)
    except RecipeError:
        recipe = None
    return VariantFiles(picture, sidecar, recipe, (), written=False)


def to_photo_entry(
    report: PhotoReport,
    target: Path,
    *,
    request: str,
    mode: Mode,
    reader: ReaderName | None,
    strength: float,
) -> PhotoEntry:
    """A report as JSON entry; `target` is the path of the result."""
    details = report.details if isinstance(report.details, EditDetails) else EditDetails()
    variants = [_to_variant_entry(number, one) for number, one in enumerate(details.variants, start=1)]
    first = variants[0] if variants else None
    error, explanation = report.error, _join_explanations(report)
    return PhotoEntry(
        schema_version=EDIT_JSON_VERSION,
        source=str(report.task.source),
        target=first.picture if first else str(target),
        outcome=report.outcome.value,
        notes=list(report.notes),
        error=error,
        errors=[] if error is None else [ErrorEntry(kind=report.error_kind, message=error)],
        request=request,
        mode=mode,
        reader=reader,
        strength=strength,
        explanation=explanation,
        told=explanation,
        sidecar=first.sidecar if first else None,
        description=first.description if first else "",
        settings=first.settings if first else "",
        recipe=first.recipe if first else None,
        steps=first.steps if first else [],
        variants=variants,
        declined=list(details.declined),
        limits=list(details.limits),
        wishes=list(details.wishes),
        guide=None if details.guide is None else str(details.guide),
    )


def _to_variant_entry(number: int, variant: VariantFiles) -> VariantEntry:
    recipe = variant.recipe
    return VariantEntry(
        number=number,
        outcome="done" if variant.written else "skipped",
        picture=str(variant.picture),
        sidecar=None if variant.sidecar is None else str(variant.sidecar),
        description="" if recipe is None else recipe.describe(),
        settings="" if recipe is None else recipe.format_settings(),
        recipe=None if recipe is None else json.loads(recipe.to_json()),
        steps=[] if recipe is None else summarize_steps(recipe, variant.reasons),
    )


def _join_explanations(report: PhotoReport) -> str:
    named = len(report.pictures) > 1
    lines = [
        f"{file.path.name}: {file.description}" if named else file.description for file in report.pictures
    ]
    return "\n".join(filter(None, [*lines, *report.remarks]))
