"""The facade: open a photo once, ask many times, and talk about the answers."""

from .editor import Editor, edit
from .model import Edit, Manner, Mode
from .pictures import performed, performed_thoughts, small
from .telling import NOTHING_YET
from .turns import Turn

__all__ = [
    "NOTHING_YET",
    "Edit",
    "Editor",
    "Manner",
    "Mode",
    "Turn",
    "edit",
    "performed",
    "performed_thoughts",
    "small",
]
