"""Find how an edited photo is framed in the original: quarter turns, mirroring, straightening, a crop.

Structure is compared, not tones: grey minus its local mean, over its local deviation, which edits of light
and colour hardly change. A coarse search correlates small copies by FFT over eight orientations and all
scales; its best placements are refined by Gauss-Newton on larger and larger copies, to a fraction of a pixel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import PIL.Image

from ..errors import PlanError
from ..executor import PhotoLike, apply
from ..image import Image
from ..image.pixels import to_uint8
from ..operations.geometry import find_inscribed_size
from ..recipe import Recipe
from .pictures import (
    ASPECT_TOLERANCE,
    PhotoPair,
    StepSequence,
    average_squares,
    correlate_structure,
    format_size,
    open_photo_pair,
    open_photos,
)

Grey = np.ndarray
"""(H, W) uint8."""

MIN_SCORE = 0.5
"""Correlation of structure from which a placement is accepted."""
_SAME_FRAMING = 0.8
"""Correlation of fine structure from which photos of the same shape are framed alike."""
_MIN_GAIN = 0.1
"""By how much a placement has to score better than the whole photo where that has the same shape."""
_COARSE_SIDE, _OCTAVES, _SCALE_STEP = 96, 3, 0.97
"""Long side of the original in the first octave of scales; it doubles as crops get half as large."""
_MIN_TEMPLATE_SIDE = 12
_COARSE_ANGLES = (-7.5, -5.0, -2.5, 2.5, 5.0, 7.5)
"""Angles that are searched where no upright placement is found; refinement reaches those between them."""
_CANDIDATES = 6
"""Placements of the coarse search that are refined."""
_REFINED_SIDES = (96, 192, 384, 1024)
"""Long sides of the edited photo on which a placement is refined; the score is that of the second."""
_SCORED_SIDE = 192
_ROUNDS, _CONVERGED = 12, 0.01
"""Rounds of refinement at one size at most, and the move of the corners, in pixels, that ends them."""
_STRUCTURE_RADIUS = 3
_MARGIN = 0.15
"""Share of the edited photo's size that is read around a placement while it is refined."""
_UNRESIZED = 0.75
"""Pixels by which the long side of a crop and of its export may differ if it was not resized."""
_MIN_TURN, _MIN_TURN_GAIN = 0.05, 0.005
"""A photo counts as turned from this angle on, if that raises the score by this much."""


@dataclass(frozen=True)
class Placement:
    """Where the pixels of the edited photo lie in the original.

    The original is first turned by quarter `turns` clockwise, then `mirrored` left to right. Column x and
    row y of the edited photo, from its centre, lie at (a x + b y + right, c y - b x + down) from that one's.
    """

    turns: int
    mirrored: bool
    a: float
    b: float
    c: float
    right: float
    down: float
    score: float = 0.0

    @property
    def angle(self) -> float:
        """Of the straightening, in degrees."""
        return math.degrees(math.atan2(self.b, (self.a + self.c) / 2))

    def orient(self, grey: Grey) -> Grey:
        turned = np.rot90(grey, -self.turns)
        return np.ascontiguousarray(turned[:, ::-1] if self.mirrored else turned)


@dataclass(frozen=True)
class FramedPair:
    """Two photos with the same framing, and the steps that framed the first one so."""

    pair: PhotoPair
    framing: StepSequence = ()


def open_framed_pair(before: PhotoLike, after: PhotoLike) -> FramedPair:
    """Open two photos, the first framed like the second.

    Geometry is looked for only where the aspect ratios differ by more than rounding, or the structure of the
    photos as they are hardly agrees. PlanError if the second is not a part of the first.
    """
    pair = open_photos(before, after)
    if not _is_framed_alike(pair):
        framing = find_framing(pair)
        if framing:
            return FramedPair(PhotoPair(apply(Recipe(steps=framing), pair.before), pair.after), framing)
        if pair.aspect_difference > ASPECT_TOLERANCE:
            raise PlanError(
                f"the second picture ({format_size(pair.after)}) is not a part of the first "
                f"({format_size(pair.before)}), as far as their structure shows; "
                "give a photo and an edit of that photo"
            )
    return FramedPair(open_photo_pair(pair.before, pair.after))


def _is_framed_alike(pair: PhotoPair) -> bool:
    smaller = min(pair.before, pair.after, key=lambda image: image.height * image.width)
    rounding = 1 / smaller.height + 1 / smaller.width
    return pair.aspect_difference <= rounding and correlate_structure(pair) >= _SAME_FRAMING


def find_framing(pair: PhotoPair) -> StepSequence:
    """The geometry steps after which `before` is framed like `after`; none where they do not match better."""
    before, after = _to_grey(pair.before), _to_grey(pair.after)
    placement = find_placement(before, after)
    if placement is None:
        return ()
    if pair.aspect_difference <= ASPECT_TOLERANCE:
        scales = before.shape[1] / after.shape[1], before.shape[0] / after.shape[0]
        whole = Placement(0, False, scales[0], 0.0, scales[1], 0.0, 0.0)
        if _score(placement, before, after) < _score(whole, before, after) + _MIN_GAIN:
            return ()
    return to_steps(placement, before.shape, after.shape)


def _score(placement: Placement, before: Grey, after: Grey) -> float:
    """At a size of its own, so that scores of any two placements compare."""
    return _Refinement.at(placement, placement.orient(before), after, _SCORED_SIDE).score(placement)


def find_placement(before: Grey, after: Grey) -> Placement | None:
    """The best placement of one photo in the other, or None if nothing matches well enough."""
    if min(*before.shape, *after.shape) < _MIN_TEMPLATE_SIDE or not (_varies(before) and _varies(after)):
        return None
    for angles in ((0.0,), _COARSE_ANGLES):
        coarse = sorted(_search(before, after, angles), key=lambda one: -one.score)[:_CANDIDATES]
        refined = [_refine(one, before, after, _REFINED_SIDES[:2]) for one in coarse]
        best = max(refined, key=lambda one: one.score, default=None)
        if best is not None and best.score >= MIN_SCORE:
            break
    else:
        return None
    return _refine_fully(best, before, after)


def _varies(grey: Grey) -> bool:
    return float(grey.std()) > 1


def _to_grey(image: Image) -> Grey:
    pixels = image.pixels if image.pixels.dtype == np.uint8 else to_uint8(image.pixels)
    return np.asarray(PIL.Image.fromarray(np.ascontiguousarray(pixels)).convert("L"))


def measure_structure(picture: np.ndarray) -> np.ndarray:
    """(H, W) float32: grey minus its local mean, over its local deviation."""
    grey = picture.astype(np.float32)
    detail = grey - average_squares(grey, _STRUCTURE_RADIUS)
    deviation = np.sqrt(np.maximum(average_squares(detail**2, _STRUCTURE_RADIUS), 0))
    structure: np.ndarray = detail / (deviation + 0.25 * deviation.mean() + 0.5)
    return structure


def _resize(
    grey: Grey, height: int, width: int, box: tuple[float, float, float, float] | None = None
) -> Grey:
    """Averaged down over areas; interpolated where it grows."""
    region = box or (0.0, 0.0, float(grey.shape[1]), float(grey.shape[0]))
    grows = width > region[2] - region[0] or height > region[3] - region[1]
    how = PIL.Image.Resampling.BICUBIC if grows else PIL.Image.Resampling.BOX
    return np.asarray(PIL.Image.fromarray(grey).resize((width, height), how, box=region))


def _search(before: Grey, after: Grey, angles: Sequence[float]) -> Iterator[Placement]:
    """The best coarse placement of each orientation, octave and angle."""
    octaves = _OCTAVES if angles == (0.0,) else _OCTAVES - 1
    for octave in range(octaves):
        shrink = _COARSE_SIDE * 2**octave / max(before.shape)
        if octave and shrink > 1:
            return
        small = _resize(before, *(max(_MIN_TEMPLATE_SIDE, round(side * shrink)) for side in before.shape))
        for angle in angles:
            for across in (False, True):
                pixel = max(before.shape) / max(small.shape)
                yield from _search_octave(small, after, _Octave(2.0**-octave, pixel, angle, across))


class _Octave(NamedTuple):
    """What a part of the coarse search looks at."""

    share: float
    """Size of its largest crop, as a share of the largest one that fits."""
    pixel: float
    """Size of a pixel of the small original in pixels of the original."""
    angle: float
    across: bool
    """Whether the original is turned on its side."""


def _search_octave(small: Grey, after: Grey, octave: _Octave) -> Iterator[Placement]:
    """The best placement of each of the four orientations that turn a photo on its side, or do not."""
    first = int(octave.across)
    orientations = [
        Placement(turns, mirrored, 1, 0, 1, 0, 0)
        for turns in (first, first + 2)
        for mirrored in (False, True)
    ]
    fields = np.stack([measure_structure(_turn(one.orient(small), octave.angle)) for one in orientations])
    _, height, width = fields.shape
    spectra, sums = np.fft.rfft2(fields), _integrate(fields)
    squares = _integrate(fields.astype(np.float64) ** 2)
    fits = min(height / after.shape[0], width / after.shape[1])
    best: list[Placement | None] = [None] * len(orientations)
    for step in range(round(math.log(2) / -math.log(_SCALE_STEP))):
        scale = fits * octave.share * _SCALE_STEP**step
        rows, columns = (
            min(round(side * scale), most) for side, most in zip(after.shape, (height, width), strict=True)
        )
        if min(rows, columns) < _MIN_TEMPLATE_SIDE:
            break
        template = measure_structure(_resize(after, rows, columns))
        scores = _correlate(spectra, sums, squares, template, (height, width))
        flat = scores.reshape(len(orientations), -1)
        for number, at in enumerate(flat.argmax(axis=1)):
            score, known = float(flat[number, at]), best[number]
            if known is not None and known.score >= score:
                continue
            top, left = divmod(int(at), scores.shape[2])
            middle = left + columns / 2 - width / 2, top + rows / 2 - height / 2
            best[number] = replace(_place(octave, scale, middle, orientations[number]), score=score)
    yield from (one for one in best if one is not None)


def _place(octave: _Octave, scale: float, middle: tuple[float, float], orientation: Placement) -> Placement:
    """From the scale and the middle of a crop in the straightened original, in pixels of the small one."""
    cos, sin = math.cos(math.radians(octave.angle)), math.sin(math.radians(octave.angle))
    right, down = cos * middle[0] + sin * middle[1], cos * middle[1] - sin * middle[0]
    size, pixel = octave.pixel * scale, octave.pixel
    return replace(
        orientation, a=size * cos, b=size * sin, c=size * cos, right=pixel * right, down=pixel * down
    )


def _turn(grey: Grey, angle: float) -> Grey:
    """The photo after straightening by this angle, of the same size, grey where it has no pixels."""
    if not angle:
        return grey
    height, width = grey.shape
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    right = width / 2 - cos * width / 2 - sin * height / 2
    down = height / 2 - cos * height / 2 + sin * width / 2
    return np.asarray(
        PIL.Image.fromarray(grey).transform(
            (width, height),
            PIL.Image.Transform.AFFINE,
            (cos, sin, right, -sin, cos, down),
            PIL.Image.Resampling.BILINEAR,
            fillcolor=round(float(grey.mean())),
        )
    )


def _integrate(fields: np.ndarray) -> np.ndarray:
    """(K, H + 1, W + 1): sums over everything above and to the left."""
    total = np.zeros((len(fields), fields.shape[1] + 1, fields.shape[2] + 1))
    total[:, 1:, 1:] = fields.cumsum(axis=1, dtype=np.float64).cumsum(axis=2)
    return total


def _correlate(
    spectra: np.ndarray, sums: np.ndarray, squares: np.ndarray, template: np.ndarray, size: tuple[int, int]
) -> np.ndarray:
    """(K, H - h + 1, W - w + 1): normalised correlation of a template with each part of the fields."""
    rows, columns = template.shape
    centred = template - template.mean()
    spectrum = np.conj(np.fft.rfft2(centred, size))
    products = np.fft.irfft2(spectra * spectrum, size)
    products = products[:, : size[0] - rows + 1, : size[1] - columns + 1]
    means, energies = (_sum_windows(one, rows, columns) for one in (sums, squares))
    variances = np.maximum(energies - means**2 / template.size, 1e-3 * template.size)
    scores: np.ndarray = products / np.sqrt(variances * max(float((centred**2).sum()), 1e-9))
    return scores


def _sum_windows(total: np.ndarray, rows: int, columns: int) -> np.ndarray:
    tall = total[:, rows:] - total[:, :-rows]
    sums: np.ndarray = tall[:, :, columns:] - tall[:, :, :-columns]
    return sums


def _refine_fully(placement: Placement, before: Grey, after: Grey) -> Placement:
    """Refined on large copies, upright unless a turn is seen; rows and columns may differ in scale."""
    turned = _refine(placement, before, after, _REFINED_SIDES[2:], free="abc")
    upright = _refine(replace(placement, b=0.0), before, after, _REFINED_SIDES, free="ac")
    sees_turn = abs(turned.angle) >= _MIN_TURN and turned.score > upright.score + _MIN_TURN_GAIN
    return turned if sees_turn else upright


def _refine(
    placement: Placement, before: Grey, after: Grey, sides: Sequence[int], free: str = "ab"
) -> Placement:
    """The placement after Gauss-Newton on copies of these sizes; `free` are its numbers beside the shift.

    Without a `c` of its own, rows and columns have the same scale.
    """
    oriented = placement.orient(before)
    longest = min(max(after.shape), max(after.shape) * placement.a)
    for side in dict.fromkeys(max(min(side, round(longest)), _MIN_TEMPLATE_SIDE) for side in sides):
        placement = _Refinement.at(placement, oriented, after, side).run(placement, free)
    return placement


@dataclass(frozen=True)
class _Refinement:
    """Structure of the edited photo, and of the part of the original around a placement, at one size."""

    template: np.ndarray
    window: PIL.Image.Image
    pixel: tuple[float, float]
    """Width and height of a pixel of the template in pixels of the edited photo."""
    origin: tuple[float, float]
    """Left and top edge of the window, from the centre of the oriented original in its pixels."""
    window_pixel: tuple[float, float]
    """Width and height of a pixel of the window in pixels of the original."""

    @classmethod
    def at(cls, placement: Placement, oriented: Grey, after: Grey, side: int) -> _Refinement:
        shrink = side / max(after.shape)
        rows, columns = (max(round(length * shrink), _MIN_TEMPLATE_SIDE) for length in after.shape)
        pixel = after.shape[1] / columns, after.shape[0] / rows
        reach = [
            (0.5 + _MARGIN) * (placement.a * length + abs(placement.b) * other)
            for length, other in (after.shape[::-1], after.shape)
        ]
        box = []
        for middle, extent, whole in zip(
            (placement.right, placement.down), reach, oriented.shape[::-1], strict=True
        ):
            box.append((max(middle - extent + whole / 2, 0), min(middle + extent + whole / 2, whole)))
        (left, right), (top, bottom) = box
        sides = [
            max(round((end - start) / (placement.a * one)), 2)
            for (start, end), one in zip(box, pixel, strict=True)
        ]
        window = _resize(oriented, sides[1], sides[0], (left, top, right, bottom))
        return cls(
            template=_normalise(measure_structure(_resize(after, rows, columns))),
            window=PIL.Image.fromarray(measure_structure(window)),
            pixel=pixel,
            origin=(left - oriented.shape[1] / 2, top - oriented.shape[0] / 2),
            window_pixel=((right - left) / sides[0], (bottom - top) / sides[1]),
        )

    def run(self, placement: Placement, free: str) -> Placement:
        rows, columns = self.template.shape
        x = (np.arange(columns) + 0.5 - columns / 2) * self.pixel[0]
        y = ((np.arange(rows) + 0.5 - rows / 2) * self.pixel[1])[:, None]
        best = placement = replace(placement, score=-1.0)
        for _ in range(_ROUNDS):
            warped = self._warp(placement)
            placement = replace(placement, score=self._compare(warped))
            if placement.score <= best.score:
                break
            best = placement
            moves = self._solve(warped, placement, x, y, free)
            placement = replace(
                placement,
                a=placement.a + moves[0],
                b=placement.b + moves[1],
                c=placement.c + moves[2],
                right=placement.right + moves[3],
                down=placement.down + moves[4],
            )
            far = np.abs(moves[:3]).sum() * max(x[-1], y[-1, 0]) + np.abs(moves[3:]).max()
            if far < _CONVERGED * placement.a * self.pixel[0]:
                break
        return best

    def score(self, placement: Placement) -> float:
        return self._compare(self._warp(placement))

    def _compare(self, warped: np.ndarray) -> float:
        return float((_normalise(warped) * self.template).mean())

    def _warp(self, placement: Placement) -> np.ndarray:
        """The structure of the original at the pixels of the template, 0 outside the photo."""
        rows, columns = self.template.shape
        across, down = self.pixel
        matrix = []
        for offset, start, one, (by_x, by_y) in zip(
            (placement.right, placement.down),
            self.origin,
            self.window_pixel,
            ((placement.a, placement.b), (-placement.b, placement.c)),
            strict=True,
        ):
            at_corner = offset - by_x * columns * across / 2 - by_y * rows * down / 2 - start
            matrix += [by_x * across / one, by_y * down / one, at_corner / one]
        return np.asarray(
            self.window.transform(
                (columns, rows), PIL.Image.Transform.AFFINE, matrix, PIL.Image.Resampling.BILINEAR
            )
        )

    def _solve(
        self, warped: np.ndarray, placement: Placement, x: np.ndarray, y: np.ndarray, free: str
    ) -> np.ndarray:
        """(5,): how a, b, c and the shift have to move to bring the structures together."""
        by_row, by_column = np.gradient(_normalise(warped))
        linear = np.array([[placement.a, placement.b], [-placement.b, placement.c]]) * self.pixel
        (across_x, across_y), (down_x, down_y) = np.linalg.inv(linear)
        right = by_column * across_x + by_row * down_x
        down = by_column * across_y + by_row * down_y
        columns = {"a": right * x, "b": right * y - down * x, "c": down * y, "right": right, "down": down}
        if "c" not in free:
            columns["a"] = columns["a"] + columns.pop("c")
        names = [name for name in columns if name in free or len(name) > 1]
        jacobian = np.stack([columns[name].reshape(-1) for name in names])
        jacobian = jacobian - jacobian.mean(axis=1, keepdims=True)
        scales = np.maximum(np.sqrt((jacobian**2).sum(axis=1)), 1e-9)
        jacobian /= scales[:, None]
        residual = (self.template - _normalise(warped)).reshape(-1)
        normal = jacobian @ jacobian.T + 1e-6 * np.eye(len(names))
        found = dict(zip(names, np.linalg.solve(normal, jacobian @ residual) / scales, strict=True))
        same = found.get("a", 0.0)
        return np.array(
            [same, found.get("b", 0.0), found.get("c", same), found["right"], found["down"]], float
        )


def _normalise(picture: np.ndarray) -> np.ndarray:
    """With a mean of 0 and a deviation of 1."""
    centred = picture - picture.mean()
    normal: np.ndarray = centred / max(float(centred.std()), 1e-9)
    return normal


def to_steps(placement: Placement, before: tuple[int, int], after: tuple[int, int]) -> StepSequence:
    """The geometry steps of a placement, for photos of these heights and widths."""
    steps: list[tuple[str, object]] = []
    turns, mirrored = placement.turns, placement.mirrored
    if turns == 2 and mirrored:
        steps.append(("flip", (0, 1)))
    else:
        steps += [("rotate", 90 * turns)] * bool(turns) + [("flip", (1, 0))] * mirrored
    height, width = before[::-1] if turns % 2 else before
    angle = _round_angle(placement.angle, after) if placement.b else 0.0
    if angle:
        steps.append(("straighten", angle))
        height, width = find_inscribed_size(height, width, angle)
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    middles = cos * placement.right - sin * placement.down, cos * placement.down + sin * placement.right
    sizes = after[1] * placement.a / cos, after[0] * placement.c / cos
    if abs(max(sizes) - max(after)) < _UNRESIZED:
        sizes = float(after[1]), float(after[0])
    edges = [
        _find_edges(middle, size, length, whole)
        for middle, size, length, whole in zip(middles, sizes, after[::-1], (width, height), strict=True)
    ]
    if edges != [(0, width), (0, height)]:
        shares = [
            [_shorten_share(at, side) for at in pair]
            for pair, side in zip(edges, (width, height), strict=True)
        ]
        steps.append(("crop", (shares[0][0], shares[1][0], shares[0][1], shares[1][1])))
    return Recipe.from_steps(steps).steps


def _round_angle(angle: float, after: tuple[int, int]) -> float:
    """To what the slider moves by, if no corner moves by half a pixel, or else finer."""
    coarse = round(round(angle / 0.05) * 0.05, 2)
    moved = math.radians(abs(angle - coarse)) * math.hypot(*after) / 2
    return coarse if moved < 0.5 else round(angle, 2)


def _find_edges(middle: float, size: float, length: int, whole: int) -> tuple[int, int]:
    """First and last edge of a crop along one axis, in pixels; `length` is that of the edited photo."""
    if size == length <= whole:  # not resized
        first = min(max(round(middle + (whole - length) / 2), 0), whole - length)
        return first, first + length
    first, last = (round(middle + (whole + side) / 2) for side in (-size, size))
    near = 0.75 * max(size / length, 1)
    first = 0 if first < near else first
    last = whole if last > whole - near else last
    return first, max(last, first + 1)


def _shorten_share(at: int, side: int) -> float:
    """The shortest decimal share of a side that is this pixel."""
    for decimals in range(2, 8):
        share = round(at / side, decimals)
        if math.floor(share * side + 0.5) == at:
            return min(share, 1.0)
    return at / side
