"""Match a photo to a reference picture: its tones and colours, as a recipe.

Only two pictures are known, of different things, so that a difference may be one of the look or of what is
shown. Taken over are the distribution of lightness, the tint of what is nearly grey in shadows, midtones and
highlights, and how colourful the picture is; each within limits that keep the photo plausible. They give a
target picture, and the planner names the steps that lead there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..executor import PhotoLike
from ..image import open_image
from ..image.colour import lab_to_srgb, srgb_to_lab
from ..options import LITERAL
from ..recipe import Recipe
from .edits import Edit
from .expert import plan_retouch
from .explain import describe_changes
from .policy import THUMBNAIL_SIDE, apply_to_thumbnail, make_thumbnail

ALREADY_ALIKE = "The photo looks like the reference already."
_TONE_SHARE = 0.8
"""Share of the way to the black point, mean lightness and white point of the reference."""
_ENDS = (0.01, 0.99)
"""Quantiles of lightness that are the black and the white point."""
_SPREAD_POWER, _SPREAD_SCALES = 0.7, (0.75, 1.35)
"""How much of a ratio of contrast is taken over, and its limits."""
_KNOTS = np.linspace(0, 100, 41)
"""L* at which the curve of lightness is computed."""
_MAX_SHIFT = 25.0
"""The most by which mean L* may move."""
_SLOPES = (0.5, 1.6)
"""Least and most contrast at any lightness: flatter turns to fog, steeper to noise and bands."""
_ZONES = (20.0, 50.0, 80.0)
"""L* of shadows, midtones and highlights, between which shares are interpolated."""
_GREY_CHROMA = 10.0
"""Chroma at which a colour counts as grey by a third."""
_GREY_SUPPORT = 0.05
"""Share of grey in a picture at which the measured tint of its greys counts for half."""
_TINT_SHARE, _MAX_TINT = 0.8, 10.0
"""Share of the way to the tints of the reference, and the most by which one may move."""
_MAX_TONING = 20.0
"""The most chroma of a photo that is toned like a monochrome reference."""
_CHROMA_POWER, _CHROMA_SCALES = 0.6, (0.6, 1.4)
"""How much of a ratio of colourfulness is taken over, and its limits."""
_COLOURLESS = 2.0
"""Mean chroma around the tint of its tones up to which a picture is monochrome."""
_CLIPPED, _MAX_CLIPPED = 0.002, 0.02
"""Values so near to black and white are clipped; by so much their share may grow."""
_STRENGTHS = (1.0, 0.85, 0.7, 0.5, 0.3)
"""Tried in turn where a match clips too much."""


@dataclass(frozen=True)
class PictureLook:
    """Tones and colours of a picture: what a match takes over.

    `black` and `white` are the ends of L*, `mean` and `spread` its mean and standard deviation, `tints`
    (3, 2) the mean a* and b* of what is nearly grey in each zone, `chroma` the mean chroma around those
    tints; 0 for monochrome pictures.
    """

    black: float
    white: float
    mean: float
    spread: float
    tints: np.ndarray
    chroma: float


def match(reference: PhotoLike, photo: PhotoLike, *, strength: float = 1.0) -> Edit:
    """Match a photo to the tones and colours of a reference picture (images, arrays or files).

    `strength` 0 changes nothing, 1 is the match.
    """
    return match_look(measure_look(reference), photo).at(strength)


def measure_look(reference: PhotoLike) -> PictureLook:
    """The look of a picture."""
    return _measure_lab(srgb_to_lab(make_thumbnail(open_image(reference), THUMBNAIL_SIDE)))


def match_look(look: PictureLook, photo: PhotoLike) -> Edit:
    """Match a photo to a look that was measured."""
    image = open_image(photo)
    recipe = _plan_match(make_thumbnail(image, THUMBNAIL_SIDE), look)
    reply = describe_changes(Recipe(), recipe) if recipe.steps else ALREADY_ALIKE
    return Edit(image, "", LITERAL, recipe, reply=reply)


def _plan_match(picture: np.ndarray, look: PictureLook) -> Recipe:
    """Steps towards a look, weaker where they would clip too much of the photo."""
    recipe = Recipe(steps=tuple(plan_retouch(picture, make_target(picture, look))))
    limit = _measure_clipped(picture) + _MAX_CLIPPED
    for strength in _STRENGTHS:
        weaker = recipe.blend(strength)
        if _measure_clipped(apply_to_thumbnail(weaker, picture)) <= limit:
            break
    return weaker


def _measure_clipped(picture: np.ndarray) -> float:
    """The share of pixels whose lightest channel is white or whose channels are all black."""
    lightest = picture.max(0)
    return float(((lightest > 1 - _CLIPPED) | (lightest < _CLIPPED)).mean())


def make_target(picture: np.ndarray, look: PictureLook) -> np.ndarray:
    """A picture (3, H, W) in sRGB with the tones and colours of a look, within limits."""
    lab = srgb_to_lab(picture.astype(float))
    own = _measure_lab(lab)
    lightness = _match_lightness(lab[0], own, look)
    if look.chroma:
        ratio = look.chroma / max(own.chroma, _COLOURLESS)
        scale = float(np.clip(ratio**_CHROMA_POWER, *_CHROMA_SCALES))
        tints = own.tints + _limit_lengths(_TINT_SHARE * (look.tints - own.tints), _MAX_TINT)
    else:
        scale, tints = 0.0, _limit_lengths(look.tints, _MAX_TONING)
    colours = scale * (lab[1:] - _spread_tints(own.tints, lab[0])) + _spread_tints(tints, lightness)
    target = np.clip(lab_to_srgb(np.stack([lightness, *colours])), 0, 1)
    return np.ascontiguousarray(target, np.float32)


def _limit_lengths(moves: np.ndarray, most: float) -> np.ndarray:
    """Vectors (N, 2) of at most this length."""
    lengths = np.maximum(np.hypot(*moves.T)[:, None], 1e-9)
    limited: np.ndarray = moves * np.minimum(1, most / lengths)
    return limited


def _measure_lab(lab: np.ndarray) -> PictureLook:
    lightness, colours = lab[0].reshape(-1), lab[1:].reshape(2, -1)
    shares = _share_zones(lightness)
    chroma = np.hypot(*colours)
    tints = _average_zones(colours, shares, np.ones_like(chroma), 0)
    around = float(np.hypot(*(colours - _spread_tints(tints, lightness))).mean())
    if around < _COLOURLESS:
        around = 0.0
    else:
        tints = _average_zones(colours, shares, np.exp(-((chroma / _GREY_CHROMA) ** 2)), _GREY_SUPPORT)
        around = float(np.hypot(*(colours - _spread_tints(tints, lightness))).mean())
    black, white = np.quantile(lightness, _ENDS).tolist()
    return PictureLook(black, white, float(lightness.mean()), float(lightness.std()), tints, around)


def _average_zones(
    colours: np.ndarray, shares: np.ndarray, weights: np.ndarray, support: float
) -> np.ndarray:
    """(3, 2): the weighted mean colour of each zone, nearer to that of all the less weight it has."""
    whole = _shrink_mean(colours, weights, support * len(weights), np.zeros(2))
    return np.stack([_shrink_mean(colours, share * weights, 0.02 * len(weights), whole) for share in shares])


def _shrink_mean(colours: np.ndarray, weights: np.ndarray, amount: float, towards: np.ndarray) -> np.ndarray:
    mean: np.ndarray = (colours @ weights + amount * towards) / (weights.sum() + amount + 1e-9)
    return mean


def _share_zones(lightness: np.ndarray) -> np.ndarray:
    """(3, ...): how much each lightness belongs to each zone; 1 together."""
    return np.stack([np.interp(lightness, _ZONES, row) for row in np.eye(len(_ZONES))])


def _spread_tints(tints: np.ndarray, lightness: np.ndarray) -> np.ndarray:
    """(2, ...): the tint at each lightness."""
    spread: np.ndarray = np.tensordot(tints.T, _share_zones(lightness), 1)
    return spread


def _match_lightness(lightness: np.ndarray, own: PictureLook, look: PictureLook) -> np.ndarray:
    """L* on a curve from the points of one look to those of another, within `_SLOPES`."""
    shift = float(np.clip(_TONE_SHARE * (look.mean - own.mean), -_MAX_SHIFT, _MAX_SHIFT))
    ratio = (max(look.spread, 1) / max(own.spread, 1)) ** _SPREAD_POWER
    spread, mean = own.spread * float(np.clip(ratio, *_SPREAD_SCALES)), own.mean + shift
    black, white = (
        end + _TONE_SHARE * (wanted - end)
        for end, wanted in ((own.black, look.black), (own.white, look.white))
    )
    before = [own.black, own.mean - own.spread, own.mean, own.mean + own.spread, own.white]
    after = [black, mean - spread, mean, mean + spread, white]
    inner = [at for at, level in enumerate(before) if at in (0, 2, 4) or own.black < level < own.white]
    x, y = np.array(before)[inner] + np.arange(len(inner)) * 1e-6, np.array(after)[inner]
    curve = np.interp(_KNOTS, [x[0] - 100, *x, x[-1] + 100], [y[0] - 100, *y, y[-1] + 100])
    slopes = np.clip(np.diff(curve), *(slope * _KNOTS[1] for slope in _SLOPES))
    limited = np.concatenate([[0], np.cumsum(slopes)])
    limited += mean - np.interp(lightness, _KNOTS, limited).mean()
    return np.asarray(np.clip(np.interp(lightness, _KNOTS, limited), 0, 100))
