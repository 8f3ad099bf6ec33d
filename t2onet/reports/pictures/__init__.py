"""The paper's pictures, drawn from data and runs of your own."""

from .catalogue import PICTURES, Wish, picture_of

__all__ = ["PICTURES", "Wish", "picture_of"]
