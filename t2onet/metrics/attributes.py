"""Six visible attributes of a photo, measured in CIELAB, and whether their changes follow a request.

Written once for NumPy arrays and torch tensors, for one image or a batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..image.colour import srgb_to_lab
from ..image.pixels import Array, array_namespace, to_array_like
from ..language import Attribute, Intent
from ..operations.paper import laplacian

JUST_NOTICEABLE = (0.5, 0.3, 0.5, 0.5, 0.4, 0.03)
"""The smallest change of each attribute that a person notices, in the order of `Attribute`."""
ATTRIBUTE_INDEX = {attribute: index for index, attribute in enumerate(Attribute)}

MIN_DETAIL = 1e-4
"""Least mean |Laplacian| of L*, so that the sharpness of a picture without detail is finite."""
_TINY = 1e-12
"""Added under square roots, so that gradients at grey and flat pictures are finite."""


def measure_attributes(image: Array) -> Array:
    """Images (..., 3, H, W) in [0, 1] to their attributes (..., 6), in the order of `Attribute`.

    Mean L*; standard deviation of L*; mean chroma; mean b*; mean a*; the logarithm of the mean |Laplacian| of
    L* over its standard deviation, which is taken as at least one.
    """
    return measure_lab_attributes(srgb_to_lab(image))


def measure_lab_attributes(values: Array) -> Array:
    """As `measure_attributes`, of L*, a*, b* (..., 3, H, W)."""
    xp = array_namespace(values)
    light, red, warm = (values[..., i, :, :] for i in range(3))
    mean = _mean_over_pixels(light)
    spread = (_mean_over_pixels((light - mean[..., None, None]) ** 2) + _TINY) ** 0.5
    chroma = _mean_over_pixels((red * red + warm * warm + _TINY) ** 0.5)
    detail = xp.clip(_mean_over_pixels(abs(laplacian(light, 1.0))), MIN_DETAIL, None)
    sharpness = xp.log(detail / xp.clip(spread, 1.0, None))
    return xp.stack(
        [mean, spread, chroma, _mean_over_pixels(warm), _mean_over_pixels(red), sharpness], axis=-1
    )


def _mean_over_pixels(plane: Array) -> Array:
    return plane.mean(axis=(-2, -1))


def measure_changes(before: Array, after: Array) -> Array:
    """Changes (..., 6) of the attributes from one photo, or batch of photos, to another."""
    return measure_attributes(after) - measure_attributes(before)


def check_followed(change: Array, intents: Sequence[Intent]) -> tuple[bool, ...]:
    """For each intent, whether the change (6,) is noticeable in the direction asked for."""
    return tuple(
        bool(
            intent.sign * change[ATTRIBUTE_INDEX[intent.attribute]]
            > JUST_NOTICEABLE[ATTRIBUTE_INDEX[intent.attribute]]
        )
        for intent in intents
    )


def measure_unrequested_change(change: Array, intents: Sequence[Intent]) -> float:
    """The mean of |change| (6,) / just noticeable over the attributes not asked for; 0 if all were."""
    requested = {intent.attribute for intent in intents}
    others = [ATTRIBUTE_INDEX[attribute] for attribute in Attribute if attribute not in requested]
    return float((abs(change) / to_array_like(JUST_NOTICEABLE, change))[others].mean()) if others else 0.0
