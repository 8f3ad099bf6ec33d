"""The paper's pictures, drawn from data and runs of your own."""

from .catalogue import PICTURES, picture_of
from .wish import Wish

__all__ = ["PICTURES", "Wish", "picture_of"]
