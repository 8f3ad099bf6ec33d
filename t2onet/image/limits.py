"""How large a photo may be. The limit is Pillow's own, PIL.Image.MAX_IMAGE_PIXELS, doubled as Pillow does."""

from __future__ import annotations

import PIL.Image


class TooLargeError(Exception):
    """More pixels than allowed; holds width and height."""

    def __init__(self, width: int, height: int) -> None:
        super().__init__(f"{width} x {height} pixels")
        self.size = width, height


def check_size(width: int, height: int) -> None:
    """Refuse what Pillow would refuse, for the readers that do not ask Pillow."""
    limit = PIL.Image.MAX_IMAGE_PIXELS
    if limit is not None and width * height > 2 * limit:
        raise TooLargeError(width, height)


def allowed_megapixels() -> str:
    """The limit in words."""
    return f"{2 * (PIL.Image.MAX_IMAGE_PIXELS or 0) / 1e6:.0f}"
