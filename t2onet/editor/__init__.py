"""The facade: open a photo once, ask many times, and talk about the answers."""

from .editor import Editor, edit
from .edits import Edit, Manner, Mode
from .pictures import apply_policy_steps, apply_to_thumbnail, make_thumbnail
from .telling import NOTHING_YET
from .turns import EditTurn

__all__ = [
    "NOTHING_YET",
    "Edit",
    "EditTurn",
    "Editor",
    "Manner",
    "Mode",
    "apply_policy_steps",
    "apply_to_thumbnail",
    "edit",
    "make_thumbnail",
]
