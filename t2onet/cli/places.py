"""`t2o places`: which parts of a photo can be named, and their masks as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import OutputError, PlaceError
from .common import (
    JsonOption,
    WhereOption,
    check_picture_path,
    exit_on_error,
    parse_where_option,
    print_json,
    print_line,
    print_rows,
)

if TYPE_CHECKING:
    import numpy as np

    from ..image import Image
    from ..recipe.where import Where

_SMALL_SIDE = 500
"""Short side of the copy on which shares of the photo are measured, in pixels."""
_OVERLAY = (1.0, 0.1, 0.1), 0.6
"""Colour of an overlay, and how much it covers."""


@exit_on_error
def show_places(
    photo: Annotated[str, typer.Argument(metavar="PHOTO", help="The photo.")],
    where: WhereOption = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="OUT", help="PNG file to write: the mask of --where."),
    ] = None,
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Write the photo with the place in red.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the places that a step can name and how much of a photo each covers; write the mask of one."""
    from ..image import open_image

    if (output is None and overlay) or (output is not None and where is None):
        raise OutputError("a mask is written with both --where PLACE and -o OUT.png; give both")
    place = None if where is None else parse_where_option(where)
    if output is not None:
        check_picture_path(output, overwrite)
    image = open_image(photo)
    if place is None or output is None:
        _print_shares(image, place, as_json)
        return
    levels = _resolve(place, image)
    _write_mask(levels, image, output, overlay=overlay, overwrite=overwrite)
    share = levels.mean() / 255
    if as_json:
        print_json({"path": str(output), "where": where, "share": round(float(share), 4)})
    else:
        print_line(f"{photo} -> {output}, {100 * share:.0f} % of the photo", err=False)


def _print_shares(image: Image, place: Where | None, as_json: bool) -> None:
    """Print what one place covers, or all that have a name."""
    from ..recipe.where import list_words
    from ..recipe.wording import label_where

    small = image.resize(_SMALL_SIDE)
    named = {word: word for word in list_words()} if place is None else {label_where(place): place}
    shares = {
        name: _measure_share(one, small) if place is None else float(_resolve(one, small).mean() / 255)
        for name, one in named.items()
    }
    if as_json:
        print_json([{"name": name, "share": round(share, 4)} for name, share in shares.items()])
        return
    rows = [(name, f"{100 * share:.0f} %") for name, share in shares.items()]
    print_rows(("place", "of the photo"), rows, numbers_from=1, markup=False)


def _measure_share(place: Where, image: Image) -> float:
    """What a place covers of a photo; nothing where it is not there."""
    try:
        return float(_resolve(place, image).mean() / 255)
    except PlaceError:
        return 0.0


def _resolve(place: Where, image: Image) -> np.ndarray:
    from ..places import OpenedPhoto, resolve_where

    return resolve_where(place, OpenedPhoto(image))


def _write_mask(levels: np.ndarray, image: Image, path: Path, *, overlay: bool, overwrite: bool) -> None:
    from ..image import image_from_array, write_atomically
    from ..recipe import Mask

    if overlay:
        image_from_array(_tint(levels, image)).save(path, overwrite=overwrite)
    else:
        write_atomically(path, Mask.from_array(levels).png, overwrite=overwrite)


def _tint(levels: np.ndarray, image: Image) -> np.ndarray:
    """The photo (H, W, 3) uint8 with a place in red."""
    import numpy as np

    colour, cover = _OVERLAY
    share = cover * (levels / np.float32(255))[..., None]
    pixels = image.to_srgb().pixels
    return np.rint(pixels * (1 - share) + 255 * share * np.array(colour, np.float32)).astype(np.uint8)
