"""Tables, figures and contact sheets; the paper's, and ours beside them."""

from .table import Table

__all__ = ["Table"]
