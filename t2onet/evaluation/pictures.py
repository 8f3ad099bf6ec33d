"""Contact sheets of photos, requests and outputs, and the paper's pictures, drawn from your own data."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import PIL.Image

from ..data import Dataset, Sample
from ..data.overview import choose_samples
from ..data.spreadsheet import from_csv, to_csv
from ..editor import make_thumbnail
from ..errors import DataError, needs_extra
from ..image import open_image
from ..image.drawing import (
    BODY_SIZE,
    HEADING_SIZE,
    MUTED_COLOUR,
    SMALL_SIZE,
    add_margin,
    draw_text,
    new_canvas,
    stack_horizontally,
    stack_vertically,
    to_png_bytes,
)
from ..image.pixels import to_uint8
from ..language.wishes import TEN_REQUESTS
from ..metrics.distances import answer_variance, l1_distance
from ..planning import Plan, plan
from .cases import Case, read_cases
from .paper_results import open_row_systems
from .paper_tables import L1, MAIN_TABLE, SAMPLING_WIDTH, SIGMA
from .runs import find_weights
from .systems import EVALUATION_SIDE, Question, System
from .timing import EditCost, edit_in_subprocess, measure_total_memory

if TYPE_CHECKING:
    from ..models.decoding import DecodedVariant

CELL_SIDE, GAP = 152, 8
MARGIN = 24
PAIRS_SHEET, PHOTOS_SHEET = "pairs.png", "photos.png"
"""Sheets of a dataset's photos, which its licence may forbid to publish, and of the user's own photos."""
DEFAULT_REQUESTS = (
    "make it brighter",
    "more contrast",
    "less saturation",
    "make it warmer",
    "darken it a little",
)
"""Requests for photos without one, in turn."""


class SheetCell(NamedTuple):
    """A picture (3, H, W) and the two lines below it."""

    picture: np.ndarray
    caption: str
    detail: str = ""


class SheetPhoto(NamedTuple):
    """A photo (3, side, side), a request and, if there is one, the target."""

    photo: np.ndarray
    request: str
    target: np.ndarray | None = None


def photos_from_cases(cases: Sequence[Case], count: int) -> list[SheetPhoto]:
    """`count` cases, evenly spaced."""
    stride = max(1, len(cases) // count)
    return [SheetPhoto(case.before, case.request, case.after) for case in cases[::stride][:count]]


def photos_from_files(paths: Sequence[Path], side: int) -> list[SheetPhoto]:
    """Photos of files, each with one of `DEFAULT_REQUESTS`."""
    return [
        SheetPhoto(make_thumbnail(open_image(path), side), DEFAULT_REQUESTS[index % len(DEFAULT_REQUESTS)])
        for index, path in enumerate(paths)
    ]


def to_questions(photos: Sequence[SheetPhoto]) -> list[Question]:
    """Photos with a target, which is an expert's, are edited in expert mode; others literally."""
    return [
        Question(photo.photo, photo.request, "literal" if photo.target is None else "expert")
        for photo in photos
    ]


def draw_systems_sheet(
    title: str, systems: Sequence[System], photos: Sequence[SheetPhoto], note: str = ""
) -> bytes:
    """A row for each photo: the input, the target, and the output of each system."""
    questions = to_questions(photos)
    answers = [system.answer(questions) for system in systems]
    rows = []
    for index, (photo, request, target) in enumerate(photos):
        cells = [SheetCell(photo, "input", _describe_distance(photo, target))]
        if target is not None:
            cells.append(SheetCell(target, "target"))
        for system, system_answers in zip(systems, answers, strict=True):
            picture = system_answers[index].picture
            cells.append(SheetCell(picture, system.name, _describe_distance(picture, target)))
        rows.append((f'"{request}"', cells))
    return draw_sheet(title, note, rows)


def _describe_distance(picture: np.ndarray, target: np.ndarray | None) -> str:
    return "" if target is None else f"L1 {l1_distance(picture, target):.4f}"


def draw_sheet(
    title: str, subtitle: str, rows: Sequence[tuple[str, Sequence[SheetCell]]], side: int = CELL_SIDE
) -> bytes:
    """Rows of cells, each below its heading."""
    width = max(len(cells) for _, cells in rows) * (side + GAP) - GAP
    width = max(width, 4 * side)
    parts = [draw_text(title, HEADING_SIZE, width)]
    if subtitle:
        parts.append(draw_text(subtitle, BODY_SIZE, width, MUTED_COLOUR))
    for heading, cells in rows:
        if heading:
            parts.append(draw_text(heading, BODY_SIZE, width))
        parts.append(stack_horizontally([_draw_cell(cell, side) for cell in cells], GAP))
    return to_png_bytes(add_margin(stack_vertically(parts, 2 * GAP), width + 2 * MARGIN, MARGIN))


def _draw_cell(cell: SheetCell, side: int) -> PIL.Image.Image:
    lines = [draw_text(cell.caption, SMALL_SIZE, side)]
    if cell.detail:
        lines.append(draw_text(cell.detail, SMALL_SIZE, side, MUTED_COLOUR))
    return stack_vertically([_fit_cell(cell.picture, side), *lines], 4)


def _fit_cell(picture: np.ndarray, side: int) -> PIL.Image.Image:
    """Resize a picture to fit a square of that side, aligned left."""
    image = PIL.Image.fromarray(to_uint8(np.ascontiguousarray(picture.transpose(1, 2, 0))))
    scale = side / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    resampling = PIL.Image.Resampling.BICUBIC if scale > 1 else PIL.Image.Resampling.BOX
    canvas = new_canvas(side, size[1])
    canvas.paste(image.resize(size, resampling), (0, 0))
    return canvas


NamedFiles = Mapping[str, bytes]
"""Contents of files by name."""
SAMPLES_PER_REQUEST = 6
SAMPLED_WIDTHS = (0.1, 0.3)
"""Widths h of sampled parameters: the widest in the paper's training, and a wider one."""
TRAJECTORY_SHORT_SIDE = 256
"""Short side in pixels at which trajectories are planned."""
TABLE_FILE = "table.csv"
COMPARED_RUNS = {"T2ONet": "paper", "Pix2pixAug": "pix2pixaug"}
"""Systems compared at two sizes, with the names of their runs."""
SMALL_SIDE, LARGE_PIXELS = 256, 24_000_000
"""The two sizes: a short side in pixels, and a number of pixels."""
LARGE_CELL_SIDE = 300
_MEMORY_SHARE = 0.9
"""Share of the machine's memory that one edit may take."""


@dataclass(frozen=True)
class PictureOptions:
    """What a picture is drawn from: a dataset or the user's `photos`, runs, and results of tables."""

    dataset: Dataset
    runs: Path
    results: Path
    photos: Sequence[Path] = ()
    request: str = ""
    split: str = "val"
    count: int = 4
    seed: int = 0
    bfloat16: bool = False

    def choose_samples(self, count: int) -> list[Sample]:
        """Random samples of the split or, if it has none, of the dataset."""
        return choose_samples(self.dataset.split(self.split) or self.dataset.samples, count, self.seed)

    @cached_property
    def cases(self) -> list[Case]:
        return read_cases(self.dataset, self.split, EVALUATION_SIDE, self.count, seed=self.seed)

    @property
    def sheet_photos(self) -> list[SheetPhoto]:
        """The photos to show, with their own requests or the user's."""
        own = self.photos[: self.count]
        photos = photos_from_files(own, EVALUATION_SIDE) if own else photos_from_cases(self.cases, self.count)
        if not self.request:
            return photos
        return [photo._replace(request=self.request, target=None) for photo in photos]

    @property
    def sheet_name(self) -> str:
        return PHOTOS_SHEET if self.photos else PAIRS_SHEET

    def find_weights(self, run: str) -> Path:
        """The weights of a run; raises if there are none."""
        if (path := find_weights(self.runs / run)) is None:
            raise DataError(f"there are no weights in {self.runs / run}; train that run, or give --runs DIR")
        return path


def draw_requests_by_width(options: PictureOptions) -> NamedFiles:
    """The same photos under the paper's ten requests, a row for each width h that has weights."""
    rows = [row for row in SAMPLING_WIDTH.rows if row.run is not None]
    systems, absent = open_row_systems(rows, options.runs)
    if not systems:
        raise DataError(f"no model of any width has weights: {'; '.join(absent.values())}")
    sheet_rows = []
    for photo, _, _ in options.sheet_photos:
        for system in systems:
            questions = [Question(photo, request, "literal") for request in TEN_REQUESTS]
            outputs = [answer.picture for answer in system.answer(questions)]
            heading = f"{system.name}: sigma x 100 over these answers {100 * answer_variance(outputs):.3f}"
            cells = [SheetCell(*pair) for pair in zip(outputs, TEN_REQUESTS, strict=True)]
            sheet_rows.append((heading, [SheetCell(photo, "input"), *cells]))
    note = "; ".join(absent.values())
    return {options.sheet_name: draw_sheet("The same photo under different requests", note, sheet_rows)}


def draw_several_answers(options: PictureOptions) -> NamedFiles:
    """Several answers to one request, with parameters sampled around the network's own."""
    weights = options.find_weights("paper")
    rows = []
    for photo in options.sheet_photos:
        for width in SAMPLED_WIDTHS:
            cells = [SheetCell(photo.photo, "input")]
            for number, answer in enumerate(_sample_answers(weights, photo, width, options.seed)):
                caption = f"sample {number}" if number else "its own"
                steps = ", ".join(name for name, _ in answer.steps) or "nothing"
                cells.append(SheetCell(answer.image.numpy(), caption, steps))
            rows.append((f'"{photo.request}", parameters sampled with h = {width:g}', cells))
    return {options.sheet_name: draw_sheet("Several answers to one request", "", rows)}


def _sample_answers(weights: Path, photo: SheetPhoto, width: float, seed: int) -> list[DecodedVariant]:
    import torch

    from ..models.decoding import RequestBatch, decode_variants
    from ..models.files import load_network
    from ..models.t2onet import StepDecoder

    loaded = load_network(weights)
    network = cast(StepDecoder, loaded.network)
    tokens = torch.tensor([loaded.vocabulary.encode(photo.request)])
    batch = RequestBatch(tokens, tokens != 0, torch.from_numpy(np.ascontiguousarray(photo.photo))[None])
    generator = torch.Generator().manual_seed(seed)
    return decode_variants(network, batch, SAMPLES_PER_REQUEST, h=width, generator=generator)


def draw_side_by_side(options: PictureOptions) -> NamedFiles:
    """All systems of the main table that have weights."""
    systems, absent = open_row_systems(MAIN_TABLE.rows, options.runs, bfloat16=options.bfloat16)
    note = "; ".join(absent.values())
    sheet = draw_systems_sheet("All systems side by side", systems, options.sheet_photos, note)
    return {options.sheet_name: sheet}


def draw_trajectories(options: PictureOptions) -> NamedFiles:
    """Pairs, and the picture after each step of their plans: beam search with the solver `fast`."""
    plans = [(sample, _plan_sample(sample)) for sample in options.choose_samples(options.count)]
    rows = [(found.recipe.describe(), list(_build_trajectory_cells(found))) for _, found in plans]
    lines: list[tuple[object, ...]] = [("pair", "step", "operation", "L1")]
    for sample, found in plans:
        names = ["", *(step.operation for step in found.recipe.steps)]
        for number, (name, cost) in enumerate(zip(names, found.costs, strict=True)):
            lines.append((sample.name, number, name, f"{cost:.6f}"))
    note = "After each step that the forward search found, with the distance to the target"
    sheet = draw_sheet("Planning trajectories", note, rows)
    return {PAIRS_SHEET: sheet, "figures.csv": to_csv(lines).encode()}


def _plan_sample(sample: Sample) -> Plan:
    return plan(sample.before, sample.after, way="beam", refine=False, size=TRAJECTORY_SHORT_SIDE)


def _build_trajectory_cells(found: Plan) -> Iterator[SheetCell]:
    captions = ["input", *(step.describe() for step in found.recipe.steps)]
    for picture, caption, cost in zip(found.pictures, captions, found.costs, strict=True):
        yield SheetCell(picture, caption, f"L1 {cost:.4f}")
    if found.target is not None:
        yield SheetCell(found.target, "target")


class TradeOffPoint(NamedTuple):
    label: str
    sigma: float
    l1: float


def draw_trade_off(options: PictureOptions) -> NamedFiles:
    """A chart of the table that `t2o reproduce sampling-width` wrote, beside the paper's figures."""
    path = options.results / SAMPLING_WIDTH.name / TABLE_FILE
    if not path.is_file():
        command = f"t2o reproduce {SAMPLING_WIDTH.name} DATASET"
        raise DataError(f"there is no {path}, which this picture shows; `{command}` makes it")
    lines = from_csv(path.read_text(encoding="utf-8"))
    series = {"here": _read_points(lines, "value"), "paper": _read_points(lines, "paper")}
    if not any(series.values()):
        raise DataError(f"{path} has no row with both {L1} and {SIGMA}; make the table with weights")
    return {"chart.png": _draw_chart(series)}


def _read_points(lines: Sequence[Mapping[str, str]], column: str) -> list[TradeOffPoint]:
    figures: dict[str, dict[str, float]] = {}
    for line in lines:
        if line["system"].startswith("h = ") and line["figure"] in (L1, SIGMA) and line[column]:
            figures.setdefault(line["system"], {})[line["figure"]] = float(line[column])
    return [TradeOffPoint(name, both[SIGMA], both[L1]) for name, both in figures.items() if len(both) == 2]


def _draw_chart(series: Mapping[str, Sequence[TradeOffPoint]]) -> bytes:
    with needs_extra(DataError, "this chart needs matplotlib", "train"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for name, points in series.items():
        axes.plot([point.sigma for point in points], [point.l1 for point in points], "o-", label=name)
        for number, point in enumerate(sorted(points, key=lambda point: -point.l1)):
            offset = (8, 6 - 8 * number)  # points may nearly coincide: labels spread downwards
            axes.annotate(point.label, (point.sigma, point.l1), offset, textcoords="offset points")
    axes.set_xlabel(f"{SIGMA} (larger: requests change more)")
    axes.set_ylabel(f"{L1} (smaller: nearer the expert)")
    axes.set_title("L1 against sigma, by the width h of sampled parameters")
    axes.margins(0.12)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left")
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=120)
    return buffer.getvalue()


@dataclass(frozen=True)
class SizedEdit:
    """The output of a system at one size, and its cost; both None if memory was too small."""

    system: str
    size: str
    photo: np.ndarray
    output: np.ndarray | None
    cost: EditCost | None

    @property
    def detail(self) -> str:
        if self.cost is None:
            return "does not fit into memory"
        return f"{self.cost.seconds:.2f} s, {self.cost.memory:.2f} GB"


def draw_resolution(options: PictureOptions) -> NamedFiles:
    """One request on one photo at two sizes, through T2ONet's recipe and through a GAN; time and memory."""
    source = options.photos[0] if options.photos else options.choose_samples(1)[0].before
    pixels = to_uint8(open_image(source).to_srgb().pixels)
    weights = {name: options.find_weights(run) for name, run in COMPARED_RUNS.items()}
    photos = {
        f"{SMALL_SIDE} px": _resize_short_side(pixels, SMALL_SIDE),
        f"{LARGE_PIXELS / 1e6:g} MP": _resize_by_factor(pixels, (LARGE_PIXELS / pixels[..., 0].size) ** 0.5),
    }
    request, limit = options.request or DEFAULT_REQUESTS[0], measure_total_memory() * _MEMORY_SHARE
    edits = [
        SizedEdit(name, size, photo, *_edit_measured(path, photo, request, limit))
        for size, photo in photos.items()
        for name, path in weights.items()
    ]
    title = f'"{request}" at {" and at ".join(photos)}'
    enlarged = ", enlarged to that" if pixels[..., 0].size < LARGE_PIXELS else ""
    note = f"{source.name}{enlarged}; memory is that of the whole process, which was allowed {limit:.0f} GB"
    sizes = list(photos)
    return {
        options.sheet_name: draw_sheet(title, note, _build_sheet_rows(edits, sizes), LARGE_CELL_SIDE),
        "figures.csv": _edits_to_csv(edits, sizes).encode(),
    }


def _edit_measured(
    weights: Path, photo: np.ndarray, request: str, limit: float
) -> tuple[np.ndarray | None, EditCost | None]:
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "photo.npy"), Path(folder, "output.npy")
        np.save(source, photo)
        cost = edit_in_subprocess(weights, source, request, output, limit)
        return None if cost is None else np.load(output), cost


def _build_sheet_rows(edits: Sequence[SizedEdit], sizes: Sequence[str]) -> list[tuple[str, list[SheetCell]]]:
    """A row for each size, and the busiest part of the large outputs at full resolution."""
    rows = []
    for size in sizes:
        row = [edit for edit in edits if edit.size == size]
        cells = [_edit_to_cell(edit, edit.output) for edit in row]
        rows.append((size, [_pixels_to_cell(row[0].photo, "input", ""), *cells]))
    large = [edit for edit in edits if edit.size == sizes[-1]]
    crop = _find_busiest(large[0].photo)
    cells = [_edit_to_cell(edit, None if edit.output is None else edit.output[crop]) for edit in large]
    original = _pixels_to_cell(large[0].photo[crop], "input", "")
    return [*rows, (f"{sizes[-1]}, the part with most detail, pixel by pixel", [original, *cells])]


def _edit_to_cell(edit: SizedEdit, pixels: np.ndarray | None) -> SheetCell:
    blank = np.full((SMALL_SIDE, SMALL_SIDE, 3), 32, np.uint8)
    return _pixels_to_cell(blank if pixels is None else pixels, edit.system, edit.detail)


def _pixels_to_cell(pixels: np.ndarray, caption: str, detail: str) -> SheetCell:
    is_small = max(pixels.shape) <= 4 * LARGE_CELL_SIDE
    shown = pixels if is_small else _resize_short_side(pixels, 2 * LARGE_CELL_SIDE)
    return SheetCell(shown.transpose(2, 0, 1).astype(np.float32) / 255, caption, detail)


def _find_busiest(pixels: np.ndarray) -> tuple[slice, slice]:
    """The crop of the size of a cell with most detail."""
    side = LARGE_CELL_SIDE
    detail = np.abs(np.diff(pixels[..., 1].astype(np.int16), axis=1))
    tops, lefts = (range(0, max(1, length - side + 1), side) for length in pixels.shape[:2])
    crops = [(slice(top, top + side), slice(left, left + side)) for top in tops for left in lefts]
    return max(crops, key=lambda crop: detail[crop].mean())


def _edits_to_csv(edits: Sequence[SizedEdit], sizes: Sequence[str]) -> str:
    """`apart` is the mean difference between the shrunk large output and the small one, in levels of 255."""
    lines = [("system", "size", "width", "height", "seconds", "memory (GB)", "apart")]
    for edit in edits:
        small = next(other for other in edits if other.system == edit.system and other.size == sizes[0])
        apart = "" if edit.size == sizes[0] else _mean_difference(edit.output, small.output)
        cost = ("", "") if edit.cost is None else (f"{edit.cost.seconds:.3f}", f"{edit.cost.memory:.3f}")
        height, width = edit.photo.shape[:2]
        lines.append((edit.system, edit.size, str(width), str(height), *cost, apart))
    return to_csv(lines)


def _mean_difference(large: np.ndarray | None, small: np.ndarray | None) -> str:
    if large is None or small is None:
        return ""
    shrunk = _resize(large, small.shape[1], small.shape[0])
    return f"{np.abs(shrunk.astype(float) - small).mean():.3f}"


def _resize_short_side(pixels: np.ndarray, side: int) -> np.ndarray:
    return _resize_by_factor(pixels, side / min(pixels.shape[:2]))


def _resize_by_factor(pixels: np.ndarray, factor: float) -> np.ndarray:
    """Resize to even sides, which generators need."""
    height, width = (max(2, 2 * round(side * factor / 2)) for side in pixels.shape[:2])
    return _resize(pixels, width, height)


def _resize(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    resampling = PIL.Image.Resampling.BOX if width < pixels.shape[1] else PIL.Image.Resampling.BICUBIC
    return np.asarray(PIL.Image.fromarray(pixels).resize((width, height), resampling))


class PaperPicture(NamedTuple):
    """A title, and the function that draws the picture."""

    title: str
    draw: Callable[[PictureOptions], NamedFiles]


PAPER_PICTURES: dict[str, PaperPicture] = {
    "planning-trajectories": PaperPicture("Planning step by step", draw_trajectories),
    "trade-off": PaperPicture("L1 against sigma over h", draw_trade_off),
    "requests-by-width": PaperPicture(
        "The same photo under different requests for each h", draw_requests_by_width
    ),
    "several-answers": PaperPicture("Several samples of one request", draw_several_answers),
    "side-by-side": PaperPicture("All systems side by side", draw_side_by_side),
    "resolution": PaperPicture("The same request at 256 pixels and 24 megapixels", draw_resolution),
}


def find_paper_picture(name: str) -> PaperPicture:
    if name not in PAPER_PICTURES:
        raise DataError(f"there is no picture {name!r}; there are {', '.join(PAPER_PICTURES)}")
    return PAPER_PICTURES[name]
