"""The report as a page: styles and pictures are inside it, nothing is fetched, no script runs."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from html import escape

import PIL.Image

from .contents import Contents, Curve, Shot, Slider, StepShown
from .palette import DIAGONAL, FAINT, GRID, PANEL, SURROUND, TEXT, TRACK, WELL, ink

_COLOURS = (
    f":root {{ color-scheme: dark; --surround: {SURROUND}; --panel: {PANEL}; --well: {WELL}; "
    f"--text: {TEXT}; --faint: {FAINT}; }}"
)
_STYLE = """
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.25rem; max-width: 84rem; background: var(--surround); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0 0 .75rem; font-size: clamp(1.25rem, 1rem + 1.4vw, 1.9rem); line-height: 1.3; font-weight: 600;
  text-wrap: balance; }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.1rem; font-weight: 600; }
p { margin: 0; max-width: 60rem; }
.title, .detail, footer { color: var(--faint); }
.title { margin-bottom: .25rem; }
.grid { display: grid; gap: 1.25rem; margin: 0; padding: 0; list-style: none;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); }
.grid.overview { grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); }
.card { padding: .75rem; background: var(--panel); }
.masked { grid-column: 1 / -1; display: grid; gap: 1.25rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); }
.masked svg, .masked .label { margin-top: 0; }
figure { margin: 0; }
img { display: block; width: 100%; height: auto; background: var(--well); }
figcaption { padding-top: .5rem; }
.detail { font-size: .9rem; }
.wide { max-width: 42rem; }
svg { display: block; width: 100%; height: auto; margin-top: .75rem; }
.plot { max-width: 15rem; }
.legend { display: flex; gap: 1rem; font-size: .85rem; }
.ends { display: flex; justify-content: space-between; color: var(--faint); font-size: .85rem; }
.label { margin-top: .75rem; font-size: .9rem; }
footer { margin-top: 2.25rem; font-size: .9rem; }
""".strip()

_DASHES = {"green": "5 1.5", "blue": "1.5 1.5"}
"""Lines differ in more than colour."""


def page(contents: Contents) -> bytes:
    """The page in UTF-8."""
    title, headline, costs, footnote = (
        escape(text) for text in (contents.title, contents.headline, contents.costs, contents.footnote)
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>{title}</title>
<style>
{_COLOURS}
{_STYLE}
</style>
</head>
<body>
<header>
<p class="title">{title}</p>
<h1>{headline}</h1>
<p>{costs}</p>
</header>
<main>
<h2>Before, result, target</h2>
<div class="grid overview">
{_joined(_figure(shot) for shot in contents.overview)}
</div>
{_steps(contents.steps)}<h2>{escape(contents.residual.caption)}</h2>
{_figure(contents.residual, "wide residual", "PNG")}
</main>
<footer><p>{footnote}</p></footer>
</body>
</html>
""".encode()


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(parts)


def _figure(shot: Shot, kind: str = "photo", coding: str = "JPEG") -> str:
    width, height = shot.picture.size
    caption = "" if kind != "photo" else f"{escape(shot.caption)}<br />"
    return (
        f'<figure class="{kind}"><img src="{_data(shot.picture, coding)}" width="{width}" height="{height}" '
        f'alt="{escape(f"{shot.caption}: {shot.detail}")}" />'
        f'<figcaption>{caption}<span class="detail">{escape(shot.detail)}</span></figcaption></figure>'
    )


def _data(picture: PIL.Image.Image, coding: str) -> str:
    stream = io.BytesIO()
    picture.save(stream, coding, quality=95, subsampling=0)
    return f"data:image/{coding.lower()};base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"


def _steps(steps: tuple[StepShown, ...]) -> str:
    if not steps:
        return ""
    return f'<h2>Step by step</h2>\n<ol class="grid">\n{_joined(_step(step) for step in steps)}\n</ol>\n'


def _step(step: StepShown) -> str:
    controls = "".join([*([_plot(step.curves)] if step.curves else ()), *map(_slider, step.sliders)])
    if step.place is None:
        return f'<li class="card">{_figure(step.shot)}{controls}</li>'
    beside = f"<div>{controls}</div>" if controls else ""
    return f'<li class="card masked">{_figure(step.place)}{_figure(step.shot)}{beside}</li>'


def _plot(curves: tuple[Curve, ...]) -> str:
    """Curves against the diagonal, dark to light from left to right and from bottom to top."""
    names = ", ".join(curve.name for curve in curves)
    quarters = "".join(f"M{at} 0V100M0 {at}H100" for at in (25, 50, 75))
    legend = "".join(f'<span style="color:{ink(c.name)}">{escape(c.name)}</span>' for c in curves)
    return (
        f'<svg class="plot" viewBox="-1 -1 102 102" role="img" '
        f'aria-label="Curves from dark to light, against the diagonal: {escape(names)}">'
        f'<path d="M0 0H100V100H0Z{quarters}" fill="{WELL}" stroke="{GRID}" stroke-width=".5" />'
        f'<path d="M0 100L100 0" stroke="{DIAGONAL}" stroke-width=".6" />'
        f"{''.join(map(_line, curves))}</svg>"
        f'<div class="legend">{legend if len(curves) > 1 else ""}</div>'
    )


def _line(curve: Curve) -> str:
    points = " ".join(f"{100 * x:.2f},{100 - 100 * y:.2f}" for x, y in curve.points)
    dashes = f' stroke-dasharray="{_DASHES[curve.name]}"' if curve.name in _DASHES else ""
    return f'<polyline points="{points}" fill="none" stroke="{ink(curve.name)}" stroke-width="1.2"{dashes} />'


def _slider(slider: Slider) -> str:
    """A line over the declared range, a mark where nothing changes, a knob at the value."""
    default, value = (6 + 188 * slider.share(v) for v in (slider.default, slider.value))
    reads = f"{slider.label}, in a range from {slider.low:g} to {slider.high:g}"
    return (
        f'<div class="label">{escape(slider.label)}</div>'
        f'<svg class="slider" viewBox="0 0 200 12" role="img" aria-label="{escape(reads)}">'
        f'<path d="M6 6H194" stroke="{TRACK}" stroke-width="2" stroke-linecap="round" />'
        f'<path d="M{default:.1f} 2V10" stroke="{FAINT}" stroke-width="1" />'
        f'<path d="M{default:.1f} 6H{value:.1f}" stroke="{TEXT}" stroke-width="2" />'
        f'<circle cx="{value:.1f}" cy="6" r="4.5" fill="{TEXT}" /></svg>'
        f'<div class="ends"><span>{slider.low:g}</span><span>{slider.high:g}</span></div>'
    )
