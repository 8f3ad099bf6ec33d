"""Camera RAW through rawpy, an extra: developed with the camera's white balance to 16-bit sRGB."""

from __future__ import annotations

import io

import numpy as np

from . import exif, ifd
from .limits import check_size
from .model import Image, Origin


def read(data: bytes, max_pixels: float | None = None) -> Image:
    """The developed photo. LibRaw turns it upright by itself."""
    import rawpy

    with rawpy.imread(io.BytesIO(data)) as file:
        check_size(file.sizes.width, file.sizes.height, max_pixels)
        pixels = file.postprocess(use_camera_wb=True, output_bps=16, output_color=rawpy.ColorSpace.sRGB)
    # A camera without a colour filter gives one channel.
    gray = pixels.ndim == 2 or pixels.shape[2] == 1
    if gray:
        pixels = np.repeat(np.atleast_3d(pixels), 3, axis=2)
    return Image(pixels, None, Origin(format="RAW", bits=16, gray=gray, exif=_exif(data)))


def _exif(data: bytes) -> bytes | None:
    # The maker note is left behind: its offsets point into the RAW file.
    try:
        return exif.from_tiff(data, maker_note=False)
    except ifd.MalformedError:
        return None
