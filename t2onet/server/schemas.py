"""The JSON of the API: what is asked and what is answered. Nothing here does anything."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

ResourceId = Annotated[str, Field(max_length=64)]
"""Of a photo, a batch, a result: short and made by the server."""
RecipeJson = Annotated[
    dict[str, Any], Field(description="A recipe, as `t2o apply` takes it; masks as `png`, not as `file`.")
]
RevisionNumber = Annotated[int, Field(description="The revision of the photo that the change is about.")]
LongSide = Annotated[
    int, Field(ge=16, description="Long side of the picture in pixels; never an enlargement.")
]
ModeName = Literal["literal", "expert"]


class StrictRequest(BaseModel):
    """A body: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class ModeRequest(StrictRequest):
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


class EditRequest(ModeRequest):
    """A request, or a follow-up to the edit there is."""

    request: str
    revision: RevisionNumber
    fresh: Annotated[bool, Field(description="About the photo as it was opened, not as it is.")] = False


class VariantsRequest(ModeRequest):
    request: str
    count: Annotated[int, Field(ge=1, le=12)] = 4
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
    """Whether it comes from elsewhere, a look say, so that no words led to its steps."""


class UndoRedoRequest(StrictRequest):
    """One step through the history."""

    revision: RevisionNumber


class MoveToEditRequest(StrictRequest):
    place: Annotated[int, Field(ge=0, description="How many edits of the history shall stand.")]
    revision: RevisionNumber


class SetStrengthRequest(StrictRequest):
    strength: Annotated[float, Field(ge=0, le=4, allow_inf_nan=False)]
    revision: RevisionNumber


class RenderRequest(StrictRequest):
    recipe: RecipeJson
    size: LongSide = 1600


class PlanRequest(StrictRequest):
    before: ResourceId
    after: ResourceId
    steps: Annotated[int, Field(ge=1, le=6)] = 6


class ExportRequest(StrictRequest):
    """What to make: the photo, or the recipe for another tool."""

    kind: Literal["photo", "recipe", "cube", "hald"] = "photo"
    format: Annotated[
        Literal["jpg", "png", "tif", "webp", "avif", "heic"] | None,
        Field(description="Of a photo; its own by default."),
    ] = None
    quality: Annotated[int | None, Field(ge=1, le=100)] = None
    size: Annotated[int | None, Field(description="Entries a side: cube 33 or 65, hald 64 or 144.")] = None
    recipe: RecipeJson | None = None


class StartBatchRequest(ModeRequest):
    """One recipe, or one request, for many photos."""

    recipe: RecipeJson | None = None
    request: str | None = None
    photos: Annotated[list[ResourceId] | None, Field(max_length=10_000, description="All by default.")] = None
    format: Literal["jpg", "png", "tif", "webp", "avif", "heic"] | None = None


class ParameterResponse(BaseModel):
    name: str
    low: float
    high: float
    default: float
    unit: str
    help: str
    count: Annotated[int, Field(description="How many numbers: more than one is a curve of that many rises.")]


class OperationResponse(BaseModel):
    name: str
    help: str
    parameters: list[ParameterResponse]
    repair: Annotated[bool, Field(description="A repair has no parameters and needs a mask.")]


class AboutResponse(BaseModel):
    name: str
    version: str
    limits: dict[str, int | float]


class StepResponse(BaseModel):
    """A step of the recipe as a person reads it."""

    operation: str
    does: str
    because: Annotated[list[str], Field(description="Words of the request that led to it.")]
    masked: bool


class PhotoSummaryResponse(BaseModel):
    photo: ResourceId
    name: str
    opened: bool
    revision: int


class PhotoResponse(BaseModel):
    """A photo and the edit that stands."""

    photo: ResourceId
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
    steps: list[StepResponse]
    aside: list[SwitchedOffStep]
    changes: Annotated[list[str], Field(description="What the last change did, in words.")]


class HistoryResponse(BaseModel):
    """What was done to a photo; the first `place` edits stand, the others were undone."""

    revision: int
    place: int
    edits: Annotated[list[str], Field(description="In words, the oldest first.")]


class EditResponse(BaseModel):
    """The answer to a request, and the photo after it."""

    answered: bool
    verdict: str
    answer: Annotated[str, Field(description="What was done and why, or why nothing was, in words.")]
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
    variants: list[VariantResponse]


class ClippingResponse(BaseModel):
    """Shares of the pixels that are at the ends of the scale."""

    black: float
    white: float


class HistogramResponse(BaseModel):
    """Counts by level, 256 for each channel, of the picture on the screen."""

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
    outcome: Literal["waiting", "running", "done", "refused", "cancelled"]
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
