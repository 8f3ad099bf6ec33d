"""Camera RAW through rawpy, an extra: developed with the camera's white balance to 16-bit sRGB."""

from __future__ import annotations

import io

from t2onet.image import exif, ifd
from t2onet.image.limits import check_size
from t2onet.image.model import Image, Origin


def read(data: bytes) -> Image:
    """The developed photo. LibRaw turns it upright by itself."""
    import rawpy

    with rawpy.imread(io.BytesIO(data)) as file:
        check_size(file.sizes.width, file.sizes.height)
        pixels = file.postprocess(use_camera_wb=True, output_bps=16, output_color=rawpy.ColorSpace.sRGB)
    return Image(pixels, None, Origin(format="RAW", bits=16, exif=_exif(data)))


def _exif(data: bytes) -> bytes | None:
    # The maker note is left behind: its offsets point into the RAW file.
    try:
        return exif.from_tiff(data, maker_note=False)
    except ifd.MalformedError:
        return None
