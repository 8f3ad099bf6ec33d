"""Tone and color: curves of eight straight pieces, given by the eight rises between their ends.

Only the ratios of the rises matter: the curve is divided by their sum, so it always runs from 0 to 1.
"""

from __future__ import annotations

from ._arrays import Array, namespace, per_pixel
from ._declaration import Operation, Parameter, Values, register

PIECES = 8


def curve(image: Array, rises: list[Array]) -> Array:
    """f(x) = sum_i clip(N x - i, 0, 1) p_i / sum_i p_i, the rises p_i shaped to meet the pixels."""
    xp = namespace(image)
    climbed = sum(xp.clip(PIECES * image - i, 0.0, 1.0) * rise for i, rise in enumerate(rises))
    return climbed / sum(rises)


def tone(image: Array, parameters: Array, scale: float) -> Array:
    """One curve for all channels."""
    return curve(image, [per_pixel(parameters[..., i]) for i in range(PIECES)])


def color(image: Array, parameters: Array, scale: float) -> Array:
    """A curve for each channel: the eight rises of red, then green, then blue."""
    channels = parameters.reshape((*parameters.shape[:-1], 3, PIECES))
    return curve(image, [channels[..., i][..., None, None] for i in range(PIECES)])


def mean_one(values: Values) -> Values:
    """The same curves with rises that average one, as the identity's do."""
    rows = (values[start : start + PIECES] for start in range(0, len(values), PIECES))
    return tuple(value * PIECES / sum(row) for row in rows for value in row)


def _rises(name: str, what: str, sampling: float) -> Parameter:
    return Parameter(
        name,
        0.02,
        8.0,
        1.0,
        "relative rise",
        f"how steeply {what} rises in each eighth from dark to light; only ratios matter",
        count=PIECES,
        sampling=sampling,
    )


TONE = register(
    Operation(
        name="tone",
        help="A tone curve of eight pieces, the same for red, green and blue.",
        parameters=(_rises("rises", "the curve", 0.75),),
        formula=tone,
        canonical=mean_one,
    )
)

COLOR = register(
    Operation(
        name="color",
        help="Three tone curves of eight pieces, one each for red, green and blue.",
        parameters=tuple(_rises(channel, channel, 0.1) for channel in ("red", "green", "blue")),
        formula=color,
        canonical=mean_one,
    )
)
