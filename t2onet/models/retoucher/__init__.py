"""The shipped network: it reads a request, looks at a photo and fills in a recipe, operation by operation."""

from .network import Retoucher, Settings

__all__ = ["Retoucher", "Settings"]
