"""The JSON of the API: requests, responses, and recipes that clients send."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import PIL.Image
from pydantic import BaseModel, ConfigDict, Field, model_validator

from .. import operations
from ..editor import DeclinedEntry, LimitEntry, WishEntry, summarize_steps
from ..errors import RecipeError
from ..image import formats
from ..operations import repairs
from ..options import DEFAULT_API_VARIANTS, DEFAULT_MODE, MAX_API_STRENGTH, MAX_API_VARIANTS, Mode, ReaderName
from ..places.similar import DEFAULT_TOLERANCE, TOLERANCE_RANGE
from ..recipe import Mask, Recipe, Step
from ..recipe.where import Where, count_parts, to_area, to_data
from .errors import too_large
from .keeping import SavedPlace
from .settings import ServerSettings

ResourceId = Annotated[str, Field(max_length=64)]
"""Id of a photo, batch or result, made by the server."""
RecipeJson = Annotated[
    dict[str, Any], Field(description="A recipe, as `t2o apply` takes it; masks as `png`, not as `file`.")
]
RevisionNumber = Annotated[int, Field(description="The revision of the photo that the change is about.")]
LongSide = Annotated[
    int, Field(ge=16, description="Long side of the picture in pixels; never an enlargement.")
]

OUTPUT_FORMATS = {format.suffixes[0].removeprefix("."): format.label for format in formats.WRITABLE_FORMATS}
"""The formats of results by their usual suffix, as people write them."""
if TYPE_CHECKING:
    OutputFormat = str
else:
    OutputFormat = Literal[tuple(OUTPUT_FORMATS)]
BatchOutcome = Literal["waiting", "running", "done", "refused", "cancelled"]


class StrictRequest(BaseModel):
    """A request body; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class ModeRequest(StrictRequest):
    """A request body with a mode; the old name `manner` is accepted as well."""

    mode: Mode = DEFAULT_MODE

    @model_validator(mode="before")
    @classmethod
    def _rename_manner(cls, body: Any) -> Any:
        if not isinstance(body, dict) or "manner" not in body:
            return body
        renamed = {name: value for name, value in body.items() if name != "manner"}
        if renamed.setdefault("mode", body["manner"]) != body["manner"]:
            raise ValueError("mode and manner contradict each other; give mode alone")
        return renamed


WhereJson = Annotated[
    str | dict[str, Any] | None,
    Field(description="The part of the photo, as in a recipe: text or an object."),
]
MaskJson = Annotated[
    dict[str, Any] | None, Field(description="The part as a mask: `png`, and perhaps `feather`.")
]


class EditRequest(ModeRequest):
    """A request, or a follow-up to the current edit, for the whole photo or a part of it."""

    request: str
    revision: RevisionNumber
    fresh: Annotated[bool, Field(description="About the photo as it was opened, not its edit.")] = False
    where: WhereJson = None
    mask: MaskJson = None


class VariantsRequest(ModeRequest):
    request: str
    where: WhereJson = None
    mask: MaskJson = None
    count: Annotated[int, Field(ge=1, le=MAX_API_VARIANTS)] = DEFAULT_API_VARIANTS
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0


class SwitchedOffStep(StrictRequest):
    """A step that is switched off, and the position it had."""

    position: Annotated[int, Field(ge=0, le=1000)]
    step: dict[str, Any]


class PutRecipeRequest(StrictRequest):
    recipe: RecipeJson
    revision: RevisionNumber
    aside: list[SwitchedOffStep] = []
    new: bool = False
    """Whether it comes from elsewhere, such as a look, so that no words led to its steps."""


class UndoRedoRequest(StrictRequest):
    """Undo or redo."""

    revision: RevisionNumber


class MoveToEditRequest(StrictRequest):
    place: Annotated[int, Field(ge=0, description="Number of edits of the history to apply.")]
    revision: RevisionNumber


class SetStrengthRequest(StrictRequest):
    strength: Annotated[float, Field(ge=0, le=MAX_API_STRENGTH, allow_inf_nan=False)]
    revision: RevisionNumber


class RenderRequest(StrictRequest):
    recipe: RecipeJson
    size: LongSide = 1600


class MaskRequest(StrictRequest):
    """The mask to show: of a `where`, or of a step of the recipe."""

    recipe: RecipeJson = {"steps": []}
    where: WhereJson = None
    step: Annotated[int | None, Field(ge=0, description="Index of a step; the first is 0.")] = None
    size: LongSide = 1024


Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class SelectionRequest(StrictRequest):
    """A point of the photo as it was opened, as shares of its width and height."""

    point: tuple[Share, Share]
    tolerance: Annotated[
        float,
        Field(
            ge=TOLERANCE_RANGE[0],
            le=TOLERANCE_RANGE[1],
            allow_inf_nan=False,
            description="How far colours may be from that of the point, in CIELAB.",
        ),
    ] = DEFAULT_TOLERANCE
    size: LongSide = 1024


class PlanRequest(StrictRequest):
    before: ResourceId
    after: ResourceId
    operations: Literal["darkroom", "paper"] = "darkroom"
    steps: Annotated[int | None, Field(ge=1, le=8)] = None


class ExportRequest(StrictRequest):
    """The result to make: the edited photo, its recipe, or a colour table or settings for another tool."""

    kind: Literal["photo", "recipe", "cube", "hald", "pp3", "xmp"] = "photo"
    format: Annotated[
        OutputFormat | None,
        Field(description="Format of a photo; its own by default."),
    ] = None
    quality: Annotated[int | None, Field(ge=1, le=100)] = None
    size: Annotated[
        int | None, Field(description="Entries a side: cube 33 or 65, hald 64 or 144, pp3 and xmp 144.")
    ] = None
    recipe: RecipeJson | None = None


class SaveLookRequest(StrictRequest):
    """A recipe to save as a look; what belongs to one photo is left out."""

    name: str
    recipe: RecipeJson


class StartBatchRequest(ModeRequest):
    """One recipe, or one request, for many photos."""

    recipe: RecipeJson | None = None
    request: str | None = None
    photos: Annotated[list[ResourceId] | None, Field(max_length=10_000, description="All by default.")] = None
    format: OutputFormat | None = None


class ParameterResponse(BaseModel):
    name: str
    low: float
    high: float
    default: float
    unit: str
    help: str
    step: Annotated[float, Field(description="Smallest change of a slider.")]
    count: Annotated[int, Field(description="Number of values.")]
    curve: Annotated[bool, Field(description="Whether its values are the increments of a curve.")]
    names: Annotated[list[str], Field(description="Names of the values, such as red; empty without.")]
    titles: Annotated[list[str], Field(description="What to call each value, such as red hue.")]
    suffix: Annotated[str, Field(description="The unit where people write it after a value, such as EV.")]


class OperationResponse(BaseModel):
    name: str
    label: Annotated[str, Field(description="The name as people read it.")]
    group: Annotated[str, Field(description="light, colour, detail, effects, geometry; empty for a repair.")]
    position: Annotated[int, Field(description="Its usual place in a recipe, relative to the others.")]
    common: Annotated[bool, Field(description="Whether photographers reach for it first.")]
    help: str
    parameters: list[ParameterResponse]
    repair: Annotated[bool, Field(description="A repair has no parameters and needs a mask.")]


class LookResponse(BaseModel):
    """A named look: of the package, or one that a user saved."""

    name: str
    family: Annotated[str, Field(description="Looks of a family follow each other.")]
    description: str
    recipe: RecipeJson
    own: Annotated[bool, Field(description="Whether a user saved it.")] = False
    notes: Annotated[list[str], Field(description="What was left out of it.")] = []


class AboutResponse(BaseModel):
    name: str
    version: str
    limits: dict[str, int | float]
    reader: Annotated[ReaderName, Field(description="What reads requests, by its name in the package.")]
    readable_suffixes: Annotated[list[str], Field(description="Suffixes of photos that can be opened.")]
    output_formats: Annotated[dict[str, str], Field(description="The formats of results and their names.")]


class PlaceResponse(BaseModel):
    """A place that was found in a photo."""

    name: str
    share: Annotated[float, Field(description="How much of the photo it covers, 0 to 1.")]


class PlaceWords(BaseModel):
    """Words of `where` that need not be looked for."""

    tones: list[str]
    hues: list[str]
    positions: list[str]


class PlacesResponse(BaseModel):
    places: Annotated[list[PlaceResponse], Field(description="Those in this photo only.")]
    words: PlaceWords


class StepResponse(BaseModel):
    """A step of a recipe in words."""

    operation: str
    does: str
    settings: Annotated[str, Field(description="Its numbers as photographers write them.")]
    because: Annotated[list[str], Field(description="Words of the request that led to it.")]
    masked: Annotated[bool, Field(description="Whether it applies to a part of the photo only.")]
    where: Annotated[
        str | dict[str, Any] | None, Field(description="That part, as in the recipe; null with a mask.")
    ] = None


class PhotoSummaryResponse(BaseModel):
    photo: ResourceId
    name: str
    opened: bool
    revision: int


class PhotoResponse(BaseModel):
    """A photo and its current edit."""

    photo: ResourceId
    name: str
    width: int
    height: int
    edited_width: Annotated[int, Field(description="After the edit, which may crop or turn the photo.")]
    edited_height: int
    frame: Annotated[
        tuple[float, ...],
        Field(
            description="Where a point (u, v) of the edited photo lies in the opened one, in shares of width "
            "and height: six numbers a to f, x = a u + b v + c, y = d u + e v + f."
        ),
    ]
    format: str | None
    bits: int
    notes: Annotated[list[str], Field(description="What an edited copy cannot keep of the file.")]
    revision: int
    can_undo: bool
    can_redo: bool
    request: str
    mode: Mode
    manner: Annotated[Mode, Field(description="The old name of `mode`.")]
    strength: float
    recipe: RecipeJson
    description: str
    settings: Annotated[str, Field(description="The numbers of the recipe as photographers write them.")]
    steps: list[StepResponse]
    aside: list[SwitchedOffStep]
    changes: Annotated[list[str], Field(description="What the last change did, in words.")]
    saved: Annotated[
        SavedPlace,
        Field(description="Where the edit is kept: beside the photo, by the server, or until it stops."),
    ]
    remarks: Annotated[
        list[str], Field(description="What could not be kept as usual; each is to be said once.")
    ]


class HistoryResponse(BaseModel):
    """The edits of a photo; the first `place` are applied, the others were undone."""

    revision: int
    place: int
    edits: Annotated[list[str], Field(description="In words, the oldest first.")]


class EditResponse(BaseModel):
    """The answer to a request, and the photo after it."""

    answered: bool
    verdict: str
    answer: Annotated[str, Field(description="What was done and why, or why nothing was, in words.")]
    declined: Annotated[
        list[DeclinedEntry], Field(description="Parts of the request that were not answered.")
    ]
    limits: Annotated[list[LimitEntry], Field(description="What had to stay, and whether it did.")]
    wishes: Annotated[
        list[WishEntry], Field(description="What was read in the request, and what became of it.")
    ]
    point_at: Annotated[
        list[str],
        Field(description="Words about things that were not found; given a `mask`, the same request is met."),
    ]
    state: PhotoResponse


class SessionResponse(BaseModel):
    session: str
    idle_minutes: float
    photos: list[PhotoSummaryResponse]
    batches: list[ResourceId]


class VariantResponse(BaseModel):
    recipe: RecipeJson
    description: str
    steps: list[StepResponse]


class VariantsResponse(BaseModel):
    answered: bool
    verdict: str
    answer: str
    declined: list[DeclinedEntry]
    limits: list[LimitEntry]
    wishes: list[WishEntry]
    variants: list[VariantResponse]


class ClippingResponse(BaseModel):
    """Shares of the pixels that are fully black or white in a channel."""

    black: float
    white: float


class HistogramResponse(BaseModel):
    """Counts of the 256 levels of each channel, in the preview."""

    red: list[int]
    green: list[int]
    blue: list[int]
    pixels: int
    clipped: dict[str, ClippingResponse]


class PlanResponse(BaseModel):
    recipe: RecipeJson
    description: str
    steps: list[StepResponse]
    start_cost: Annotated[float, Field(description="Mean difference of the photos, of 1.")]
    cost: Annotated[float, Field(description="Mean difference that the recipe leaves.")]
    explained: Annotated[bool, Field(description="Whether the recipe accounts for most of the difference.")]


class ExportResponse(BaseModel):
    result: ResourceId
    name: str
    bytes: int
    notes: list[str]
    url: str


class BatchItemResponse(BaseModel):
    photo: ResourceId
    name: str
    outcome: BatchOutcome
    notes: list[str]
    error: str | None
    url: str | None


class BatchResponse(BaseModel):
    batch: ResourceId
    running: bool
    cancelled: bool
    total: int
    done: int
    share: Annotated[float, Field(description="Of the work, 0 to 1.")]
    items: list[BatchItemResponse]
    archive: Annotated[str | None, Field(description="All results in one file, when it is finished.")]


_MAX_RECIPE_NAME_LENGTH = 200
_REPAIR_MEGAPIXELS = 150.0
"""Work of a repair of a whole photo, in megapixels of masked steps; the same for photos of any size."""
_PLACE_COST = 1.0
"""Work of a megapixel of each word, gradient or refinement of a place, in megapixels of masked steps."""
_NEIGHBOURHOOD_COST = 2.0
"""Work of a megapixel of a step that reads neighbouring pixels, in megapixels of masked steps."""


def parse_recipe(raw: Any, settings: ServerSettings) -> Recipe:
    """Parse a recipe that a client sent, within the limits. Masks must be embedded, never named as files."""
    steps = raw.get("steps") if isinstance(raw, dict) else None
    if isinstance(steps, list):
        if len(steps) > settings.steps:
            raise too_large(f"a recipe has at most {settings.steps} steps here, and {len(steps)} were given")
        for step in steps:
            _check_mask(step, settings)
    recipe = Recipe.from_data(raw)
    if len(recipe.name) > _MAX_RECIPE_NAME_LENGTH:
        raise RecipeError(
            f"a recipe's name has at most {_MAX_RECIPE_NAME_LENGTH} characters here; give a shorter one"
        )
    return recipe


def parse_step(raw: Any, settings: ServerSettings) -> Step:
    return parse_recipe({"steps": [raw]}, settings).steps[0]


def parse_part(where: Any, mask: Any, settings: ServerSettings) -> tuple[Where | None, Mask | None]:
    """Parse the part of a photo that a client named or painted; refuses both at a time."""
    try:
        step = parse_step(
            {"operation": "exposure", "parameters": [0], "where": where, "mask": mask}, settings
        )
    except RecipeError as error:
        raise RecipeError(str(error).removeprefix("step 1: ").removeprefix("exposure has ")) from None
    return step.where, step.mask


def check_work(recipe: Recipe, pixels: float, settings: ServerSettings) -> None:
    """Refuse a recipe that would take too long on a picture of `pixels` pixels."""
    local = [step for step in recipe.steps if step.is_local and not step.is_identity]
    work = sum(_estimate_step_work(step, pixels / 1e6) for step in local)
    work += _NEIGHBOURHOOD_COST * _count_neighbourhood_passes(recipe) * pixels / 1e6
    if work > settings.masked_megapixels:
        raise too_large(
            f"masks, places and sharpness come to {work:.0f} megapixels of work on this photo, and this "
            f"server does at most {settings.masked_megapixels:g}; use fewer places and masks or smaller "
            "masks, or sharpen less often"
        )


def _estimate_step_work(step: Step, megapixels: float) -> float:
    """Work of a step with a mask or at a place, in megapixels."""
    if step.where is not None:
        return megapixels * (1 + _PLACE_COST * count_parts(to_area(step.where)))
    assert step.mask is not None
    if (repair := repairs().get(step.operation)) is None:
        return megapixels * step.mask.extent()
    share = 1.0 if repair.margin is None else step.mask.extent(repair.margin)
    return _REPAIR_MEGAPIXELS * share


def _count_neighbourhood_passes(recipe: Recipe) -> float:
    """How often the whole photo is computed from neighbouring pixels.

    The first pass over the whole photo is not counted, so that a simple edit of any photo is accepted.
    """
    steps = [step for step in recipe.steps if not step.is_repair and not step.is_identity]
    wide = [step for step in steps if operations.declarations()[step.operation].reads_neighbours]
    whole = sum(not step.is_local for step in wide)
    local = [1.0 if step.mask is None else step.mask.extent() for step in wide if step.is_local]
    return max(whole - 1, 0) + sum(local)


def has_masks(raw: Any) -> bool:
    """Whether a recipe has masks that must be decoded."""
    steps = raw.get("steps") if isinstance(raw, dict) else None
    return isinstance(steps, list) and any(isinstance(step, dict) and "mask" in step for step in steps)


def _check_mask(step: Any, settings: ServerSettings) -> None:
    """Check a mask before it is decoded: no file names, and not too many pixels."""
    mask = step.get("mask") if isinstance(step, dict) else None
    if not isinstance(mask, dict):
        return
    if "file" in mask:
        raise RecipeError('a mask comes inside the recipe here: give {"png": base64 of a grey PNG}')
    png = mask.get("png")
    if isinstance(png, str) and _count_mask_pixels(png) > 1e6 * settings.mask_megapixels:
        raise too_large(f"a mask has at most {settings.mask_megapixels:g} megapixels here; make it smaller")


def _count_mask_pixels(png: str) -> int:
    """Pixels of a PNG by its header; 0 for other data, which the recipe refuses."""
    try:
        data = base64.b64decode(png)
        if not data.startswith(formats.PNG_SIGNATURE):
            return 0
        formats.check_structure(data)
        with PIL.Image.open(io.BytesIO(data), formats=("PNG",)) as picture:
            return picture.width * picture.height
    except PIL.Image.DecompressionBombError:
        return 2**62
    except Exception:  # Pillow raises many kinds on damaged data
        return 0


def count_mask_bytes(steps: Iterable[Step]) -> int:
    """Bytes of all different masks."""
    return sum(map(len, {step.mask.png for step in steps if step.mask}))


def reuse_masks(recipe: Recipe, known: Iterable[Step]) -> Recipe:
    """The recipe with masks that are in memory already, so that each change of a slider adds none."""
    masks = {step.mask: step.mask for step in known if step.mask}
    steps = tuple(
        step.model_copy(update={"mask": masks[step.mask]}) if step.mask in masks else step
        for step in recipe.steps
    )
    return recipe.model_copy(update={"steps": steps})


def to_recipe_json(recipe: Recipe) -> dict[str, Any]:
    """A recipe as JSON data."""
    return recipe.model_dump(mode="json", exclude_none=True)


def to_step_responses(recipe: Recipe, reasons: Sequence[Sequence[str]] = ()) -> list[StepResponse]:
    """The steps of a recipe in words; `reasons` are the words that led to each step, if they are known."""
    return [
        StepResponse(
            operation=step.operation,
            does=step.sentence,
            settings=step.settings,
            because=list(step.reasons),
            masked=own.is_local,
            where=None if own.where is None else to_data(own.where),
        )
        for own, step in zip(recipe.steps, summarize_steps(recipe, reasons), strict=True)
    ]
