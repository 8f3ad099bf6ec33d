"""The web door: JSON and pages over the editor and the studies. Thin; what an edit is, is known elsewhere."""

from .app import create_app
from .settings import ServerSettings

__all__ = ["ServerSettings", "create_app"]
