"""Edit photos by requests in words: open a photo once, ask many times, follow up on the answers."""

from ..options import Mode
from .editor import Editor, edit
from .edits import Edit, StepEntry, summarize_steps
from .policy import apply_policy_steps, apply_to_thumbnail, make_thumbnail
from .telling import NOTHING_YET, DeclinedEntry, LimitEntry
from .turns import EditTurn

__all__ = [
    "NOTHING_YET",
    "DeclinedEntry",
    "Edit",
    "EditTurn",
    "Editor",
    "LimitEntry",
    "Mode",
    "StepEntry",
    "apply_policy_steps",
    "apply_to_thumbnail",
    "edit",
    "make_thumbnail",
    "summarize_steps",
]
