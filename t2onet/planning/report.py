"""Reports of plans: an HTML page that needs no other file and runs no script, or a PNG picture."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from pathlib import Path
from string import Template

import numpy as np
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from .. import operations
from ..errors import OutputError, PlanError
from ..image import write_atomically
from ..image.drawing import (
    BACKGROUND_COLOUR,
    BODY_SIZE,
    DIAGONAL_COLOUR,
    GRID_COLOUR,
    HEADING_SIZE,
    INSET_COLOUR,
    MUTED_COLOUR,
    PANEL_COLOUR,
    SMALL_SIZE,
    TEXT_COLOUR,
    TRACK_COLOUR,
    add_margin,
    curve_colour,
    draw_text,
    new_canvas,
    scale_to_square,
    stack_vertically,
    to_png_bytes,
)
from ..image.pixels import to_uint8
from ..operations import Parameter, ParameterValues
from ..operations.paper import CURVE_PIECES, CURVES
from ..recipe import Step
from .local import LocalPlan
from .masked import dilate_region
from .pictures import Picture
from .planner import Plan
from .segments import Region, resize_region

MAX_REPORT_PICTURE_SIDE = 640
"""Longest side, in pixels, of the pictures in a report."""
_RESIDUAL_GAINS = (50, 20, 10, 5, 2)
"""Factors by which the residual may be amplified."""
_OUTSIDE_BRIGHTNESS, _OUTLINE_LEVEL = 0.35, 235
"""Brightness of the picture outside a mask, and the level of the line around the mask."""


@dataclass(frozen=True)
class PlanFigure:
    """A picture with its caption and detail."""

    picture: PIL.Image.Image
    caption: str
    detail: str


@dataclass(frozen=True)
class Curve:
    """A curve's name and its knots (x, y) in [0, 1], from black to white."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Slider:
    """A parameter within its declared range."""

    label: str
    low: float
    high: float
    default: float
    value: float

    def share(self, value: float) -> float:
        """Position of a value in the range: 0 at its low end, 1 at its high end."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class PlanReportStep:
    """A step: the picture after it, and its parameters."""

    result: PlanFigure
    curves: tuple[Curve, ...]
    sliders: tuple[Slider, ...]
    place: PlanFigure | None = None
    """In a plan with masks, the picture before the step, dark outside the mask."""


@dataclass(frozen=True)
class PlanReport:
    """The contents of a report, independent of its format."""

    title: str
    headline: str
    costs: str
    overview: tuple[PlanFigure, ...]
    steps: tuple[PlanReportStep, ...]
    residual: PlanFigure
    footnote: str

    @classmethod
    def from_plan(cls, plan: Plan) -> PlanReport:
        if plan.target is None:
            raise PlanError("a report needs an edited photo to compare with; this plan is for a custom cost")
        before, result, target = (
            _to_report_picture(p) for p in (plan.pictures[0], plan.pictures[-1], plan.target)
        )
        height, width = plan.target.shape[1:]
        return cls(
            title=plan.recipe.name or "Plan",
            headline=plan.recipe.model_copy(update={"name": ""}).describe(),
            costs="Mean difference from the target, on the photos themselves: "
            f"{format_cost(plan.start_cost)} before, {format_cost(plan.cost)} after."
            f"{_as_sentence(plan.remainder)}",
            overview=(
                PlanFigure(before, "Before", f"off by {format_cost(plan.costs[0])}"),
                PlanFigure(result, "Result", f"off by {format_cost(plan.costs[-1])}"),
                PlanFigure(target, "Target", "the edited photo"),
            ),
            steps=tuple(_report_steps(plan)),
            residual=_make_residual_figure(plan.residual, plan.remainder),
            footnote=f"Pictures, and differences below them, are at the size that was planned at: "
            f"{width} x {height} pixels.",
        )


def format_cost(cost: float) -> str:
    """A mean difference in [0, 1], also in levels of 255."""
    return f"{255 * cost:.1f} of 255 levels ({cost:.4f})"


def _to_report_picture(picture: Picture) -> PIL.Image.Image:
    """(3, H, W) as a picture of at most the largest side."""
    image = PIL.Image.fromarray(to_uint8(np.ascontiguousarray(picture.transpose(1, 2, 0))))
    image.thumbnail((MAX_REPORT_PICTURE_SIDE, MAX_REPORT_PICTURE_SIDE), PIL.Image.Resampling.BOX)
    return image


def _report_steps(plan: Plan) -> Iterator[PlanReportStep]:
    shown = zip(plan.recipe.steps, plan.pictures[1:], plan.costs[1:], strict=True)
    for number, (step, picture, cost) in enumerate(shown, start=1):
        result = PlanFigure(
            _to_report_picture(picture), f"{number}. {step.describe()}", f"then off by {format_cost(cost)}"
        )
        rows = list(_split_parameters(step))
        curved = step.operation in CURVES
        curves = tuple(Curve(p.name, _curve_knots(values)) for p, values in rows if curved)
        sliders = (_make_sliders(step.operation, p, values) for p, values in rows if not curved)
        place = _make_location_figure(plan, number - 1)
        yield PlanReportStep(result, curves, tuple(slider for row in sliders for slider in row), place)


def _make_location_figure(plan: Plan, at: int) -> PlanFigure | None:
    if not isinstance(plan, LocalPlan):
        return None
    region, before = plan.regions[at], _to_report_picture(plan.pictures[at])
    where = plan.describe_places()[at]
    return PlanFigure(
        before if region is None else _outline_region(before, region),
        f"Step {at + 1} works here",
        f"{where[0].upper()}{where[1:]}",
    )


def _outline_region(picture: PIL.Image.Image, region: Region) -> PIL.Image.Image:
    """The picture unchanged inside a mask, grey and dark outside, with a thin light line between them."""
    inside = resize_region(region, picture.height, picture.width)
    grey = np.asarray(picture.convert("L"))[..., None]
    pixels = np.where(inside[..., None], np.asarray(picture), (_OUTSIDE_BRIGHTNESS * grey).astype(np.uint8))
    pixels[dilate_region(inside) & ~inside] = _OUTLINE_LEVEL
    return PIL.Image.fromarray(pixels)


def _split_parameters(step: Step) -> Iterator[tuple[Parameter, ParameterValues]]:
    """Each parameter of the operation with its values."""
    first = 0
    for parameter in () if step.is_repair else operations.declarations()[step.operation].parameters:
        yield parameter, step.parameters[first : first + parameter.count]
        first += parameter.count


def _curve_knots(rises: ParameterValues) -> tuple[tuple[float, float], ...]:
    heights = (0.0, *accumulate(rise / sum(rises) for rise in rises))
    return tuple((k / CURVE_PIECES, height) for k, height in enumerate(heights))


def _make_sliders(operation: str, parameter: Parameter, values: ParameterValues) -> Iterator[Slider]:
    """Of parameters with several numbers, those that are not at their default."""
    for name, value in zip(parameter.slot_labels, values, strict=True):
        if parameter.count > 1 and value == parameter.default:
            continue
        several = parameter.count > 1 or len(operations.get_operation(operation).parameters) > 1
        label = f"{name if several else operation} {value:+.3g} ({parameter.unit})"
        yield Slider(label, parameter.low, parameter.high, parameter.default, value)


def _make_residual_figure(residual: Picture, remainder: str) -> PlanFigure:
    """The residual, amplified by a round factor that clips at most its strongest 1 %."""
    top = float(np.percentile(residual, 99))
    gain = next((gain for gain in _RESIDUAL_GAINS if gain * top <= 1), 1)
    mean, most = 255 * residual.mean(), 255 * np.percentile(residual, 95)
    return PlanFigure(
        _to_report_picture(gain * residual),
        "What these operations cannot explain",
        f"Off by {mean:.1f} of 255 levels on average; 95 % of all values are off by at most {most:.1f}. "
        f"Shown {gain} times as strong: full brightness is a difference of {255 / gain:.3g} levels or more."
        f"{_as_sentence(remainder)}",
    )


def _as_sentence(remainder: str) -> str:
    return f" {remainder[0].upper()}{remainder[1:]}." if remainder else ""


_PAGE = Template(Path(__file__).with_name("report.html").read_text(encoding="utf-8"))
_PAGE_COLOURS = {
    "surround": BACKGROUND_COLOUR,
    "panel": PANEL_COLOUR,
    "well": INSET_COLOUR,
    "text": TEXT_COLOUR,
    "faint": MUTED_COLOUR,
}
_LINE_DASHES = {"green": "5 1.5", "blue": "1.5 1.5"}
"""Dashes of curves, so that they differ in more than colour."""


def render_html(report: PlanReport) -> bytes:
    """The report as an HTML page in UTF-8, with its styles and pictures inside."""
    page = _PAGE.substitute(
        _PAGE_COLOURS,
        title=escape(report.title),
        headline=escape(report.headline),
        costs=escape(report.costs),
        overview=_join_lines(_html_figure(figure) for figure in report.overview),
        steps=_html_steps(report.steps),
        residual_title=escape(report.residual.caption),
        residual=_html_figure(report.residual, "wide residual", "PNG"),
        footnote=escape(report.footnote),
    )
    return page.encode()


def _join_lines(parts: Iterable[str]) -> str:
    return "\n".join(parts)


def _html_figure(figure: PlanFigure, kind: str = "photo", coding: str = "JPEG") -> str:
    width, height = figure.picture.size
    caption = "" if kind != "photo" else f"{escape(figure.caption)}<br />"
    return (
        f'<figure class="{kind}"><img src="{_to_data_url(figure.picture, coding)}" '
        f'width="{width}" height="{height}" '
        f'alt="{escape(f"{figure.caption}: {figure.detail}")}" />'
        f'<figcaption>{caption}<span class="detail">{escape(figure.detail)}</span></figcaption></figure>'
    )


def _to_data_url(picture: PIL.Image.Image, coding: str) -> str:
    stream = io.BytesIO()
    picture.save(stream, coding, quality=95, subsampling=0)
    return f"data:image/{coding.lower()};base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"


def _html_steps(steps: tuple[PlanReportStep, ...]) -> str:
    if not steps:
        return ""
    cells = _join_lines(_html_step(step) for step in steps)
    return f'<h2>Step by step</h2>\n<ol class="grid">\n{cells}\n</ol>\n'


def _html_step(step: PlanReportStep) -> str:
    controls = "".join(
        [*([_html_plot(step.curves)] if step.curves else ()), *map(_html_slider, step.sliders)]
    )
    if step.place is None:
        return f'<li class="card">{_html_figure(step.result)}{controls}</li>'
    beside = f"<div>{controls}</div>" if controls else ""
    return f'<li class="card masked">{_html_figure(step.place)}{_html_figure(step.result)}{beside}</li>'


def _html_plot(curves: tuple[Curve, ...]) -> str:
    """Curves and the diagonal; input from left to right, output from bottom to top."""
    names = ", ".join(curve.name for curve in curves)
    quarters = "".join(f"M{at} 0V100M0 {at}H100" for at in (25, 50, 75))
    legend = "".join(f'<span style="color:{curve_colour(c.name)}">{escape(c.name)}</span>' for c in curves)
    return (
        f'<svg class="plot" viewBox="-1 -1 102 102" role="img" '
        f'aria-label="Curves from dark to light, against the diagonal: {escape(names)}">'
        f'<path d="M0 0H100V100H0Z{quarters}" fill="{INSET_COLOUR}" stroke="{GRID_COLOUR}" '
        'stroke-width=".5" />'
        f'<path d="M0 100L100 0" stroke="{DIAGONAL_COLOUR}" stroke-width=".6" />'
        f"{''.join(map(_html_curve, curves))}</svg>"
        f'<div class="legend">{legend if len(curves) > 1 else ""}</div>'
    )


def _html_curve(curve: Curve) -> str:
    points = " ".join(f"{100 * x:.2f},{100 - 100 * y:.2f}" for x, y in curve.points)
    dashes = f' stroke-dasharray="{_LINE_DASHES[curve.name]}"' if curve.name in _LINE_DASHES else ""
    stroke = f'stroke="{curve_colour(curve.name)}" stroke-width="1.2"{dashes}'
    return f'<polyline points="{points}" fill="none" {stroke} />'


def _html_slider(slider: Slider) -> str:
    """A line over the declared range, a mark at the default, a knob at the value."""
    default, value = (6 + 188 * slider.share(v) for v in (slider.default, slider.value))
    reads = f"{slider.label}, in a range from {slider.low:g} to {slider.high:g}"
    return (
        f'<div class="label">{escape(slider.label)}</div>'
        f'<svg class="slider" viewBox="0 0 200 12" role="img" aria-label="{escape(reads)}">'
        f'<path d="M6 6H194" stroke="{TRACK_COLOUR}" stroke-width="2" stroke-linecap="round" />'
        f'<path d="M{default:.1f} 2V10" stroke="{MUTED_COLOUR}" stroke-width="1" />'
        f'<path d="M{default:.1f} 6H{value:.1f}" stroke="{TEXT_COLOUR}" stroke-width="2" />'
        f'<circle cx="{value:.1f}" cy="6" r="4.5" fill="{TEXT_COLOUR}" /></svg>'
        f'<div class="ends"><span>{slider.low:g}</span><span>{slider.high:g}</span></div>'
    )


REPORT_CELL, REPORT_GAP, REPORT_COLUMNS = 360, 24, 4
REPORT_WIDTH = REPORT_COLUMNS * (REPORT_CELL + REPORT_GAP) + REPORT_GAP

_PLOT_SIDE = 220
"""Side of a plot of curves, in pixels."""
_OVERSAMPLING = 2
"""Lines are drawn this many times as large and averaged down."""


def render_png(report: PlanReport) -> bytes:
    """The report as a PNG."""
    overview = [_draw_figure(figure) for figure in (*report.overview, report.residual)]
    steps = [cell for step in report.steps for cell in _draw_cells(step)]
    rows = [
        draw_text(report.title, BODY_SIZE, REPORT_WIDTH - 2 * REPORT_GAP, MUTED_COLOUR),
        draw_text(report.headline, HEADING_SIZE, REPORT_WIDTH - 2 * REPORT_GAP),
        draw_text(report.costs, BODY_SIZE, REPORT_WIDTH - 2 * REPORT_GAP),
        *(_draw_row(cells) for cells in _split_into_rows([*overview, *steps])),
        draw_text(report.footnote, SMALL_SIZE, REPORT_WIDTH - 2 * REPORT_GAP, MUTED_COLOUR),
    ]
    return to_png_bytes(add_margin(stack_vertically(rows, REPORT_GAP), REPORT_WIDTH, REPORT_GAP))


def _split_into_rows(cells: list[PIL.Image.Image]) -> Iterator[list[PIL.Image.Image]]:
    yield from (cells[first : first + REPORT_COLUMNS] for first in range(0, len(cells), REPORT_COLUMNS))


def _draw_row(cells: list[PIL.Image.Image]) -> PIL.Image.Image:
    row = new_canvas(REPORT_WIDTH - 2 * REPORT_GAP, max(cell.height for cell in cells))
    for column, cell in enumerate(cells):
        row.paste(cell, (column * (REPORT_CELL + REPORT_GAP), 0))
    return row


def _draw_cells(step: PlanReportStep) -> list[PIL.Image.Image]:
    """The mask of a step, if it has one, and its result."""
    return [*([] if step.place is None else [_draw_figure(step.place)]), _draw_step(step)]


def _draw_step(step: PlanReportStep) -> PIL.Image.Image:
    parts = [
        _draw_figure(step.result),
        *([_draw_plot(step.curves)] if step.curves else ()),
        *map(_draw_slider, step.sliders),
    ]
    return stack_vertically(parts, 12)


def _draw_figure(figure: PlanFigure) -> PIL.Image.Image:
    texts = [
        draw_text(figure.caption, BODY_SIZE, REPORT_CELL),
        draw_text(figure.detail, SMALL_SIZE, REPORT_CELL, MUTED_COLOUR),
    ]
    return stack_vertically([scale_to_square(figure.picture, REPORT_CELL), *texts], 6)


def _draw_plot(curves: tuple[Curve, ...]) -> PIL.Image.Image:
    """Curves and the diagonal; input from left to right, output from bottom to top."""
    side = _OVERSAMPLING * _PLOT_SIDE
    well = PIL.Image.new("RGB", (side, side), INSET_COLOUR)
    draw = PIL.ImageDraw.Draw(well)
    for at in range(0, 5):
        place = round(at * (side - 1) / 4)
        draw.line([(place, 0), (place, side)], GRID_COLOUR, 2)
        draw.line([(0, place), (side, place)], GRID_COLOUR, 2)
    draw.line([(0, side), (side, 0)], DIAGONAL_COLOUR, 2)
    for curve in curves:
        points = [(side * x, side - side * y) for x, y in curve.points]
        draw.line(points, curve_colour(curve.name), 4, joint="curve")
    plot = well.resize((_PLOT_SIDE, _PLOT_SIDE), PIL.Image.Resampling.BOX)
    if len(curves) == 1:
        return plot
    legend = [
        draw_text(curve.name, SMALL_SIZE, REPORT_CELL - _PLOT_SIDE - 12, curve_colour(curve.name))
        for curve in curves
    ]
    whole = new_canvas(REPORT_CELL, _PLOT_SIDE)
    whole.paste(plot, (0, 0))
    whole.paste(stack_vertically(legend, 4), (_PLOT_SIDE + 12, 0))
    return whole


def _draw_slider(slider: Slider) -> PIL.Image.Image:
    """A line over the declared range, a mark at the default, a knob at the value."""
    width, middle, radius = _OVERSAMPLING * REPORT_CELL, _OVERSAMPLING * 10, _OVERSAMPLING * 7
    large = new_canvas(width, 2 * middle)
    draw = PIL.ImageDraw.Draw(large)
    default, value = (radius + (width - 2 * radius) * slider.share(v) for v in (slider.default, slider.value))
    draw.line([(radius, middle), (width - radius, middle)], TRACK_COLOUR, 6)
    draw.line([(default, 4), (default, 2 * middle - 4)], MUTED_COLOUR, 3)
    draw.line([(default, middle), (value, middle)], TEXT_COLOUR, 6)
    draw.ellipse([value - radius, middle - radius, value + radius, middle + radius], TEXT_COLOUR)
    track = large.resize((REPORT_CELL, large.height // _OVERSAMPLING), PIL.Image.Resampling.BOX)
    ends = draw_text(f"{slider.low:g}", SMALL_SIZE, REPORT_CELL, MUTED_COLOUR)
    high = f"{slider.high:g}"
    draw = PIL.ImageDraw.Draw(ends)
    draw.text((REPORT_CELL, 0), high, MUTED_COLOUR, PIL.ImageFont.load_default(SMALL_SIZE), anchor="ra")
    return stack_vertically([draw_text(slider.label, SMALL_SIZE, REPORT_CELL), track, ends], 4)


_REPORT_RENDERERS: dict[str, Callable[[PlanReport], bytes]] = {".html": render_html, ".png": render_png}


def write_report(plan: Plan, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a report of `plan` as `.html` or `.png`; an existing file needs `overwrite`."""
    path = Path(path)
    data = _REPORT_RENDERERS[check_report_suffix(path)](PlanReport.from_plan(plan))
    write_atomically(path, data, overwrite=overwrite)
    return path


def check_report_suffix(path: Path) -> str:
    """The lower-case suffix of a report; OutputError if there is no such format."""
    suffix = path.suffix.lower()
    if suffix not in _REPORT_RENDERERS:
        raise OutputError(
            f"{path}: a report is written as {' or '.join(_REPORT_RENDERERS)}; give one of those endings"
        )
    return suffix
