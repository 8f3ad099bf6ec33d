"""The JSON of the API: what is asked and what is answered. Nothing here does anything."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Name = Annotated[str, Field(max_length=64)]
"""Of a photo, a batch, a result: short and made by the server."""
RecipeJson = Annotated[
    dict[str, Any], Field(description="A recipe, as `t2o apply` takes it; masks as `png`, not as `file`.")
]
Revision = Annotated[int, Field(description="The revision of the photo that the change is about.")]
Side = Annotated[int, Field(ge=16, description="Long side of the picture in pixels; never an enlargement.")]
ModeName = Literal["literal", "expert"]


class Asked(BaseModel):
    """A body: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class AskedInMode(Asked):
    """A body with a mode; `manner`, its old name, is taken as well."""

    mode: ModeName = "literal"

    @model_validator(mode="before")
    @classmethod
    def _rename_manner(cls, body: Any) -> Any:
        if not isinstance(body, dict) or "manner" not in body:
            return body
        renamed = {name: value for name, value in body.items() if name != "manner"}
        if renamed.setdefault("mode", body["manner"]) != body["manner"]:
            raise ValueError("mode and manner contradict each other; give mode alone")
        return renamed


class Say(AskedInMode):
    """A request, or a follow-up to the edit there is."""

    request: str
    revision: Revision
    fresh: Annotated[bool, Field(description="About the photo as it was opened, not as it is.")] = False


class WantVariants(AskedInMode):
    request: str
    count: Annotated[int, Field(ge=1, le=12)] = 4
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0


class Aside(Asked):
    """A step that is switched off, and the position it had."""

    position: Annotated[int, Field(ge=0, le=1000)]
    step: dict[str, Any]


class PutRecipe(Asked):
    recipe: RecipeJson
    revision: Revision
    aside: list[Aside] = []
    new: bool = False
    """Whether it comes from elsewhere, a look say, so that no words led to its steps."""


class Step(Asked):
    """One step through the history."""

    revision: Revision


class GoTo(Asked):
    place: Annotated[int, Field(ge=0, description="How many edits of the history shall stand.")]
    revision: Revision


class SetStrength(Asked):
    strength: Annotated[float, Field(ge=0, le=4, allow_inf_nan=False)]
    revision: Revision


class Render(Asked):
    recipe: RecipeJson
    size: Side = 1600


class WantPlan(Asked):
    before: Name
    after: Name
    steps: Annotated[int, Field(ge=1, le=6)] = 6


class Export(Asked):
    """What to make: the photo, or the recipe for another tool."""

    kind: Literal["photo", "recipe", "cube", "hald"] = "photo"
    format: Annotated[
        Literal["jpg", "png", "tif", "webp", "avif", "heic"] | None,
        Field(description="Of a photo; its own by default."),
    ] = None
    quality: Annotated[int | None, Field(ge=1, le=100)] = None
    size: Annotated[int | None, Field(description="Entries a side: cube 33 or 65, hald 64 or 144.")] = None
    recipe: RecipeJson | None = None


class StartBatch(AskedInMode):
    """One recipe, or one request, for many photos."""

    recipe: RecipeJson | None = None
    request: str | None = None
    photos: Annotated[list[Name] | None, Field(max_length=10_000, description="All by default.")] = None
    format: Literal["jpg", "png", "tif", "webp", "avif", "heic"] | None = None


class Parameter(BaseModel):
    name: str
    low: float
    high: float
    default: float
    unit: str
    help: str
    count: Annotated[int, Field(description="How many numbers: more than one is a curve of that many rises.")]


class Operation(BaseModel):
    name: str
    help: str
    parameters: list[Parameter]
    repair: Annotated[bool, Field(description="A repair has no parameters and needs a mask.")]


class About(BaseModel):
    name: str
    version: str
    limits: dict[str, int | float]


class StepTold(BaseModel):
    """A step of the recipe as a person reads it."""

    operation: str
    does: str
    because: Annotated[list[str], Field(description="Words of the request that led to it.")]
    masked: bool


class PhotoListed(BaseModel):
    photo: Name
    name: str
    opened: bool
    revision: int


class PhotoState(BaseModel):
    """A photo and the edit that stands."""

    photo: Name
    name: str
    width: int
    height: int
    format: str | None
    bits: int
    notes: Annotated[list[str], Field(description="What an edited copy cannot keep of the file.")]
    revision: int
    can_undo: bool
    can_redo: bool
    request: str
    mode: ModeName
    manner: Annotated[ModeName, Field(description="The old name of `mode`.")]
    strength: float
    recipe: RecipeJson
    description: str
    steps: list[StepTold]
    aside: list[Aside]
    changes: Annotated[list[str], Field(description="What the last change did, in words.")]


class History(BaseModel):
    """What was done to a photo; the first `place` edits stand, the others were undone."""

    revision: int
    place: int
    edits: Annotated[list[str], Field(description="In words, the oldest first.")]


class Told(BaseModel):
    """The answer to a request, and the photo after it."""

    answered: bool
    verdict: str
    answer: Annotated[str, Field(description="What was done and why, or why nothing was, in words.")]
    state: PhotoState


class SessionState(BaseModel):
    session: str
    idle_minutes: float
    photos: list[PhotoListed]
    batches: list[Name]


class Variant(BaseModel):
    recipe: RecipeJson
    description: str
    steps: list[StepTold]


class Variants(BaseModel):
    answered: bool
    verdict: str
    answer: str
    variants: list[Variant]


class Clipped(BaseModel):
    """Shares of the pixels that are at the ends of the scale."""

    black: float
    white: float


class Histogram(BaseModel):
    """Counts by level, 256 for each channel, of the picture on the screen."""

    red: list[int]
    green: list[int]
    blue: list[int]
    pixels: int
    clipped: dict[str, Clipped]


class Planned(BaseModel):
    recipe: RecipeJson
    description: str
    steps: list[StepTold]
    start_cost: Annotated[float, Field(description="Mean difference of the photos, of 1.")]
    cost: Annotated[float, Field(description="Mean difference that the recipe leaves.")]
    explained: Annotated[bool, Field(description="Whether the recipe accounts for most of the difference.")]


class Exported(BaseModel):
    result: Name
    name: str
    bytes: int
    notes: list[str]
    url: str


class BatchItem(BaseModel):
    photo: Name
    name: str
    outcome: Literal["waiting", "running", "done", "refused", "cancelled"]
    notes: list[str]
    error: str | None
    url: str | None


class BatchState(BaseModel):
    batch: Name
    running: bool
    cancelled: bool
    total: int
    done: int
    share: Annotated[float, Field(description="Of the work, 0 to 1.")]
    items: list[BatchItem]
    archive: Annotated[str | None, Field(description="All results in one file, when it is finished.")]
