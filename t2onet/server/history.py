"""What was done to a photo, a line for each edit, and the way back and forth between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..editor import Edit, Editor
from ..recipe import Recipe
from .errors import invalid

_LONGEST = 80
"""Characters of a line."""


def place(editor: Editor) -> int:
    """How many of the edits stand: 0 is the photo itself."""
    return next((at for at, edit in enumerate(editor.history, start=1) if edit is editor.current), 0)


def go(editor: Editor, to: int) -> None:
    """Undo or redo until so many edits stand."""
    most = len(editor.history)
    if not 0 <= to <= most:
        raise invalid(f"the history of this photo has places 0 to {most}, and {to} was given; read it again")
    while place(editor) > to:
        editor.undo()
    while place(editor) < to:
        editor.redo()


def lines(edits: Sequence[Edit]) -> Iterator[str]:
    """Each edit as what it did to the one before: the words that were said, or what was done by hand."""
    request, recipe = "", Recipe()
    for edit in edits:
        said = bool(edit.request) and edit.request != request
        line = f"“{edit.request}”" if said else _by_hand(recipe, edit)
        yield line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
        request, recipe = edit.request, edit.recipe


def _by_hand(before: Recipe, edit: Edit) -> str:
    if edit.turn.strength != 1:
        return f"Strength {100 * edit.turn.strength:.0f} %"
    if not edit.recipe.steps and not edit.aside:
        return "Cleared"
    changes = before.diff(edit.recipe)
    gone = {change.before.operation for change in changes if change.before and not change.after}
    come = {change.after.operation for change in changes if change.after and not change.before}
    off = {step.operation for _, step in edit.aside}
    groups = {
        "moved": gone & come,
        "switched off": (gone - come) & off,
        "removed": gone - come - off,
        "added": come - gone,
        "adjusted": {change.after.operation for change in changes if change.before and change.after},
    }
    done = [f"{', '.join(sorted(names))} {how}" for how, names in groups.items() if names]
    return "; ".join(done).capitalize() or "Adjusted"
