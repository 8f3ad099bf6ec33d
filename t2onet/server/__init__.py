"""The web darkroom: JSON over the editor, and pages. Thin; what an edit is, is known elsewhere."""

from .app import create_app
from .settings import Settings

__all__ = ["Settings", "create_app"]
