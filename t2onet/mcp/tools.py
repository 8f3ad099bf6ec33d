"""The tools of the MCP server, as methods: names, arguments and help are read from their signatures.

Nothing here knows the protocol. What a tool refuses it raises as a T2OError, whose text an agent is shown.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from ..editor import Edit, WishEntry, summarize_steps
from ..errors import Cancelled, ImageError, LookError, RecipeError, RequestError, ServerError, suggest
from ..image import has_readable_suffix
from ..looks import find_look, looks
from ..operations import Declaration, declarations
from ..options import DEFAULT_MODE, MAX_API_STRENGTH, Mode, ReaderName
from ..places import resolve_where
from ..recipe import Mask, Recipe
from ..recipe.where import list_words, parse_where
from ..server.photos import SessionPhoto
from ..server.schemas import parse_part, parse_recipe
from ..server.settings import MIB, ServerSettings
from .declarations import ToolAnswer, ToolData, ToolDeclaration, list_tools, read_json, tool
from .files import read_recipe_data, write_photo, write_table
from .folders import AllowedFolders
from .photos import MEASURED_SIDE, OpenPhotos, encode_picture, measure_picture, read_exif

MAX_PICTURE_SIDE = 2048
"""Long side of the largest picture that is returned, in pixels."""
MAX_PICTURE_BYTES = 4 * MIB
MAX_LISTED = 1000
"""The most photos of one list."""

_FROM_JSON = BeforeValidator(read_json)
PhotoName = Annotated[str, Field(description="Name of a photo, as list_photos gives it.")]
Request = Annotated[str, Field(description="What is wanted, in plain English: one sentence is best.")]
ModeName = Annotated[
    Mode, Field(description="literal does only what the request says; expert also retouches the photo.")
]
ReaderGiven = Annotated[
    ReaderName | None,
    Field(description="What reads the request; by default as the server was started."),
]
WhereGiven = Annotated[
    str | dict[str, Any] | None,
    _FROM_JSON,
    Field(description="Part of the photo: a word such as sky or shadows, 'reds except sky', or an object."),
]
Overwrite = Annotated[bool, Field(description="Replace an existing result; originals are never replaced.")]
Strength = Annotated[
    float,
    Field(ge=0, le=MAX_API_STRENGTH, allow_inf_nan=False, description="1 is the recipe, 0.5 half of it."),
]


class Darkroom:
    """The tools, the folders they work in, and the photos that are open; for one call at a time."""

    def __init__(self, folders: AllowedFolders, settings: ServerSettings, *, read_only: bool = False) -> None:
        self.folders = folders
        self.settings = settings
        self.read_only = read_only
        self.photos = OpenPhotos(folders, settings)
        self._cancel = threading.Event()

    # ---- photos

    @tool(reads_only=True)
    def list_photos(
        self,
        folder: Annotated[str | None, Field(description="A folder inside; by default all of them.")] = None,
        recursive: Annotated[bool, Field(description="Include photos in subfolders.")] = True,
        limit: Annotated[int, Field(ge=1, le=MAX_LISTED, description="The most photos to list.")] = 200,
    ) -> ToolData:
        """List the photos that can be opened; their names are what the other tools take."""
        place = None if folder is None else self.folders.find_folder(folder)
        found = self.folders.list_photos(place, recursive=recursive)
        photos = [asdict(one) for one in islice(found, limit)]
        return {"photos": photos, "more": next(found, None) is not None}

    @tool(reads_only=True)
    def describe_photo(
        self,
        photo: PhotoName,
        edited: Annotated[bool, Field(description="Measure it after its current edit.")] = False,
    ) -> ToolData:
        """Describe a photo: size, format, camera, statistics, named places in it, and its current edit.

        Statistics are measured in CIELAB on a small copy in sRGB: lightness is the mean L*, contrast the
        standard deviation of L*, colourfulness the mean chroma, warmth the mean b*, redness the mean a*;
        clipped_shadows and clipped_highlights are shares of the pixels with a channel at 0 or 255, and
        lightness_histogram has the shares of ten equal ranges of L*.
        """
        opened = self.photos.open(photo)
        info = opened.info
        assert info is not None
        recipe = opened.recipe if edited else Recipe()
        picture = self.photos.render(opened, recipe, MEASURED_SIDE, self._cancel)
        return {
            "photo": opened.name,
            "format": info.format,
            "width": info.width,
            "height": info.height,
            "bits": info.bits,
            "bytes": opened.path.stat().st_size,
            "notes": list(info.notes),
            "camera": read_exif(opened.open().origin.exif),
            "measured": "edited" if edited else "as opened",
            "statistics": measure_picture(picture),
            "places": self.photos.list_places(opened),
            "edit": _describe_state(opened),
        }

    @tool(reads_only=True)
    def render(
        self,
        photo: PhotoName,
        size: Annotated[
            int, Field(ge=16, le=MAX_PICTURE_SIDE, description="Long side in pixels; never an enlargement.")
        ] = 768,
        original: Annotated[bool, Field(description="Without the edit, in its frame.")] = False,
        format: Annotated[Literal["jpeg", "png"], Field(description="png is exact, and larger.")] = "jpeg",
    ) -> ToolAnswer:
        """Show a photo with its current edit, or the original, as a picture."""
        opened = self.photos.open(photo)
        recipe = opened.recipe.geometry if original else opened.recipe
        return self._make_picture(opened, self.photos.render(opened, recipe, size, self._cancel), format)

    def _make_picture(self, photo: SessionPhoto, picture: np.ndarray, kind: str, **more: Any) -> ToolAnswer:
        height, width = picture.shape[:2]
        data = encode_picture(picture, kind)
        if len(data) > MAX_PICTURE_BYTES:
            raise ImageError(
                f"the picture has {len(data) / MIB:.0f} MiB, and at most {MAX_PICTURE_BYTES // MIB} are "
                "returned; ask for jpeg or a smaller size"
            )
        return ToolAnswer(
            {"photo": photo.name, "width": width, "height": height, **more}, data, f"image/{kind}"
        )

    @tool(reads_only=True)
    def places(
        self,
        photo: PhotoName,
        where: WhereGiven = None,
        mask: Annotated[bool, Field(description="Return the part as a picture, white inside.")] = False,
        size: Annotated[
            int, Field(ge=16, le=MAX_PICTURE_SIDE, description="Long side of the mask in pixels.")
        ] = 512,
    ) -> ToolAnswer:
        """List the named places in a photo and the share each covers, or measure or show the part `where`.

        Words for tones, hues and positions work on every photo; named places only where they are in it.
        """
        opened = self.photos.open(photo)
        if where is None:
            if mask:
                raise RequestError("a mask is of one part; say which with where")
            words = list(list_words())
            return ToolAnswer(
                {"photo": opened.name, "places": self.photos.list_places(opened), "words": words}
            )
        levels = resolve_where(parse_where(where), self.photos.open_small(opened, size), cancel=self._cancel)
        data = {"photo": opened.name, "where": where, "share": round(float(levels.mean() / 255), 4)}
        if not mask:
            return ToolAnswer(data)
        height, width = levels.shape
        png = Mask.from_array(levels).png
        return ToolAnswer({**data, "width": width, "height": height}, png, "image/png")

    # ---- edits

    @tool()
    def edit(
        self,
        photo: PhotoName,
        request: Request,
        mode: ModeName = DEFAULT_MODE,
        reader: Annotated[
            ReaderName | None,
            Field(description="What reads the request; by default as the server was started."),
        ] = None,
        where: WhereGiven = None,
    ) -> ToolData:
        """Edit a photo as a request in words says, beginning with the photo as it was opened.

        The answer has a one-line reply, every wish that was read in the request with its outcome and the
        reason, and the recipe with its steps in words. A request that cannot be met changes nothing, and
        `answered` is false. No file is written; export does that.
        """
        editor = self._prepare(photo, request, reader)
        part, _ = parse_part(where, None, self.settings)
        return self._describe_edit(photo, editor.open_editor().ask(request, mode=mode, where=part))

    @tool()
    def follow(
        self,
        photo: PhotoName,
        request: Request,
        mode: ModeName = DEFAULT_MODE,
        reader: Annotated[
            ReaderName | None,
            Field(description="What reads the request; by default as the server was started."),
        ] = None,
        where: WhereGiven = None,
    ) -> ToolData:
        """Go on with the edit of a photo: "a bit less", "now darken the sky", "undo that", "why?".

        Only what the request mentions changes; the rest of the recipe stays. Answers are as those of edit.
        """
        editor = self._prepare(photo, request, reader)
        part, _ = parse_part(where, None, self.settings)
        return self._describe_edit(photo, editor.open_editor().follow(request, mode=mode, where=part))

    def _prepare(self, photo: str, request: str, reader: ReaderName | None) -> SessionPhoto:
        longest = self.settings.request_characters
        if len(request) > longest:
            raise RequestError(
                f"a request has at most {longest} characters here, and this one has {len(request)}; make it "
                "shorter"
            )
        opened = self.photos.open(photo)
        opened.open_editor().reader = reader or self.settings.reader
        return opened

    def _describe_edit(self, photo: str, edit: Edit) -> ToolData:
        """The answer to a request, in the fields of `t2o edit --json`."""
        opened = self.photos.open(photo)
        return {
            "answered": edit.answered,
            "reply": edit.reply,
            "explanation": edit.explain() if edit.answered else edit.reply,
            "request": edit.request,
            "mode": edit.mode,
            "reader": str(opened.open_editor().reader),
            "wishes": [WishEntry.from_wish(wish).model_dump(mode="json") for wish in edit.wishes],
            "declined": [entry.model_dump(mode="json") for entry in edit.declined],
            "limits": [entry.model_dump(mode="json") for entry in edit.limits],
            **_describe_state(opened),
        }

    @tool()
    def adjust(
        self,
        photo: PhotoName,
        operation: Annotated[str, Field(description="Name of an operation, as list_operations gives it.")],
        values: Annotated[
            float | list[Any] | dict[str, Any],
            _FROM_JSON,
            Field(description="A number, all values in order, or some by name: {'temperature': 12}."),
        ],
        where: WhereGiven = None,
    ) -> ToolData:
        """Set the values of an operation by hand; its step is changed, or added at its usual position."""
        opened = self.photos.open(photo)
        part, _ = parse_part(where, None, self.settings)
        recipe = opened.recipe.adjust(operation, values, part)
        if len(recipe) > self.settings.steps:
            raise RecipeError(f"a recipe has at most {self.settings.steps} steps here; remove one first")
        opened.open_editor().put(recipe)
        return _describe_state(opened)

    @tool()
    def remove_step(
        self, photo: PhotoName, step: Annotated[int, Field(ge=1, description="Its number; the first is 1.")]
    ) -> ToolData:
        """Remove a step from the recipe of a photo."""
        opened = self.photos.open(photo)
        steps = opened.recipe.steps
        if step > len(steps):
            raise RecipeError(f"the recipe of {opened.name} has {len(steps)} steps, and {step} was given")
        kept = (*steps[: step - 1], *steps[step:])
        opened.open_editor().put(opened.recipe.model_copy(update={"steps": kept}))
        return _describe_state(opened)

    @tool()
    def set_strength(self, photo: PhotoName, strength: Strength) -> ToolData:
        """Make the current edit of a photo weaker or stronger; a second call starts from the same edit."""
        opened = self.photos.open(photo)
        if not opened.recipe.steps:
            raise RequestError(f"{opened.name} has no edit yet; call edit, adjust or apply_look first")
        opened.open_editor().at(strength)
        return _describe_state(opened)

    @tool()
    def undo(self, photo: PhotoName) -> ToolData:
        """Undo the last change of the edit of a photo."""
        opened = self.photos.open(photo)
        if not opened.open_editor().can_undo:
            raise RequestError(f"there is nothing to undo; {opened.name} is as it was opened")
        opened.open_editor().undo()
        return _describe_state(opened)

    @tool()
    def redo(self, photo: PhotoName) -> ToolData:
        """Redo the change that was undone last."""
        opened = self.photos.open(photo)
        if not opened.open_editor().can_redo:
            raise RequestError(f"there is nothing to redo; {opened.name} has its last edit")
        opened.open_editor().redo()
        return _describe_state(opened)

    @tool()
    def reset(self, photo: PhotoName) -> ToolData:
        """Open a photo anew: its edit and history are forgotten; files that were written stay."""
        self.photos.forget(photo)
        return _describe_state(self.photos.open(photo))

    # ---- recipes and looks

    @tool(reads_only=True)
    def plan(
        self,
        before: PhotoName,
        after: Annotated[str, Field(description="The same photo, edited elsewhere.")],
        operations: Annotated[
            Literal["darkroom", "paper"], Field(description="What the recipe may use; see list_operations.")
        ] = "darkroom",
    ) -> ToolData:
        """Find the recipe that turns one photo into another. Nothing is edited; apply_look takes the recipe.

        start_cost and cost are mean differences from 0 to 1, without and with the recipe; explained says
        whether it accounts for most of the difference.
        """
        from ..planning import plan

        pair = self.photos.open(before), self.photos.open(after)
        planned = plan(pair[0].open(), pair[1].open(), operations=operations)
        return {
            "before": pair[0].name,
            "after": pair[1].name,
            "start_cost": round(planned.start_cost, 5),
            "cost": round(planned.cost, 5),
            "explained": planned.accounts_for_edit,
            "remainder": planned.remainder,
            **_describe_recipe(planned.recipe),
        }

    @tool(reads_only=True)
    def list_operations(
        self, name: Annotated[str | None, Field(description="Only this one; by default all.")] = None
    ) -> ToolData:
        """List the operations that steps are made of, with their parameters, ranges, units and defaults."""
        found = declarations()
        if name is not None and name not in found:
            raise RecipeError(f"there is no operation {name[:60]!r}; {suggest(name, found)}")
        return {
            "operations": [_describe_operation(one) for one in found.values() if name in (None, one.name)]
        }

    @tool(reads_only=True)
    def list_looks(self) -> ToolData:
        """List the named looks: recipes for any photo, which apply_look and export_look take by name."""
        entries = (
            {"name": one.name, "family": one.family, "description": one.description}
            for one in looks().values()
        )
        return {"looks": list(entries)}

    @tool()
    def apply_look(
        self,
        photo: PhotoName,
        look: Annotated[
            str | dict[str, Any],
            _FROM_JSON,
            Field(description="Name of a look, a recipe as other tools give it, or the name of its file."),
        ],
        strength: Strength = 1.0,
    ) -> ToolData:
        """Replace the edit of a photo by a look or a recipe."""
        opened = self.photos.open(photo)
        recipe = self._load_recipe(look).blend(strength)
        opened.open_editor().put(recipe, new=True)
        return _describe_state(opened)

    def _load_recipe(self, given: str | dict[str, Any]) -> Recipe:
        """A recipe that was sent, the look of a name, or a file in the folders; masks are inside it."""
        if isinstance(given, dict):
            return parse_recipe(given, self.settings)
        if Path(given).suffix.lower() != ".json" and not has_readable_suffix(given):
            return find_look(given).recipe
        return parse_recipe(read_recipe_data(self.folders, given), self.settings)

    # ---- files

    @tool(writes=True)
    def export(
        self,
        photo: PhotoName,
        output: Annotated[
            str | None, Field(description="File to write; by default NAME-edited beside the photo.")
        ] = None,
        quality: Annotated[
            int | None, Field(ge=1, le=100, description="Of a lossy format; by default a JPEG's own.")
        ] = None,
        sidecar: Annotated[bool, Field(description="Write the recipe beside it, as NAME.t2o.json.")] = True,
        overwrite: Overwrite = False,
    ) -> ToolData:
        """Write a photo with its current edit at full resolution, as `t2o apply` would; the suffix says how.

        The original stays as it is.
        """
        opened = self.photos.open(photo)
        target = None if output is None else self.folders.find_output(output, opened.path)
        written = write_photo(
            self.folders, opened, target, quality, sidecar=sidecar, overwrite=overwrite, cancel=self._cancel
        )
        return {**written, **_describe_recipe(opened.recipe)}

    @tool(writes=True)
    def export_look(
        self,
        output: Annotated[
            str,
            Field(
                description="File to write: .cube, .png (HaldCLUT), .pp3 (RawTherapee) or .xmp (darktable)."
            ),
        ],
        look: Annotated[
            str | dict[str, Any] | None,
            _FROM_JSON,
            Field(description="Name of a look, a recipe, or the name of its file."),
        ] = None,
        photo: Annotated[str | None, Field(description="The photo whose current edit is exported.")] = None,
        size: Annotated[
            int | None, Field(description="Entries a side: .cube 33 or 65, .png 64 or 144.")
        ] = None,
        overwrite: Overwrite = False,
    ) -> ToolData:
        """Write a look, or the edit of a photo, as a colour table for other programs; give look or photo.

        A .pp3 or .xmp applies a HaldCLUT, which is written beside it. The notes say what a table cannot hold
        and was left out.
        """
        if (look is None) == (photo is None):
            raise LookError("give either look or photo: what is to be exported")
        opened = None if photo is None else self.photos.open(photo)
        recipe = self._load_recipe(look) if look is not None else opened.recipe if opened else Recipe()
        target = self.folders.find_output(output, None if opened is None else opened.path)
        return write_table(self.folders, recipe, target, size, overwrite=overwrite)

    # ---- calls

    @cached_property
    def declared(self) -> dict[str, ToolDeclaration]:
        """The tools by name; without those that write files if the server reads only."""
        found = list_tools(type(self))
        return {one.name: one for one in found if not (one.kind.writes and self.read_only)}

    def call(self, name: str, arguments: dict[str, Any], cancel: threading.Event) -> ToolAnswer:
        """Check the arguments of a tool and run it."""
        if name not in self.declared:
            raise ServerError(f"there is no tool {name[:60]!r}; {suggest(name, self.declared)}")
        checked = self.declared[name].check(arguments)
        if cancel.is_set():
            raise Cancelled(f"{name} was cancelled before it began")
        self._cancel = cancel
        answer = getattr(self, name)(**checked)
        return answer if isinstance(answer, ToolAnswer) else ToolAnswer(answer)


def _describe_operation(operation: Declaration) -> ToolData:
    """As `t2o ops --json` prints it."""
    return {
        "name": operation.name,
        "group": operation.group,
        "help": operation.help,
        "parameters": [asdict(parameter) for parameter in operation.parameters],
    }


def _describe_recipe(recipe: Recipe, reasons: Sequence[Sequence[str]] = ()) -> ToolData:
    """A recipe in the fields of `t2o edit --json`."""
    return {
        "description": recipe.describe(),
        "settings": recipe.format_settings(),
        "recipe": json.loads(recipe.to_json()),
        "steps": [step.model_dump(mode="json") for step in summarize_steps(recipe, reasons)],
    }


def _describe_state(photo: SessionPhoto) -> ToolData:
    """The current edit of a photo."""
    editor = photo.open_editor()
    edit = editor.current
    recipe = edit.recipe if edit else Recipe()
    return {
        "photo": photo.name,
        **_describe_recipe(recipe, edit.reasons if edit else ()),
        "strength": edit.turn.strength if edit else 1.0,
        "changes": edit.changes if edit else [],
        "can_undo": editor.can_undo,
        "can_redo": editor.can_redo,
    }
