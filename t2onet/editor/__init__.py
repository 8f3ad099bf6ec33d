"""Edit photos by requests in words: open a photo once, ask many times, follow up on the answers."""

from ..options import Mode
from .editor import Editor, edit
from .edits import Edit, EditTurn, StepEntry, summarize_steps
from .explain import DeclinedEntry, LimitEntry, WishEntry
from .policy import apply_policy_steps, apply_to_thumbnail, make_thumbnail

__all__ = [
    "DeclinedEntry",
    "Edit",
    "EditTurn",
    "Editor",
    "LimitEntry",
    "Mode",
    "StepEntry",
    "WishEntry",
    "apply_policy_steps",
    "apply_to_thumbnail",
    "edit",
    "make_thumbnail",
    "summarize_steps",
]
