"""The web server: the API and pages of the darkroom and of studies. A thin layer over the editor."""

from .app import create_app
from .settings import ServerSettings

__all__ = ["ServerSettings", "create_app"]
