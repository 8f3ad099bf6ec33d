"""Options of a request: its mode, reader, strength and number of variants.

Declared here once for Python, the command line, the API, the JSON schema and the networks. Nothing heavy is
imported, so that the command line can read them.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from .errors import RequestError

Mode = Literal["literal", "expert"]
"""`literal` does what the sentence says and nothing else; `expert` also retouches the photo."""
LITERAL: Final = "literal"
EXPERT: Final = "expert"
MODES: tuple[Mode, ...] = get_args(Mode)
DEFAULT_MODE: Mode = LITERAL

ReaderName = Literal["default", "free"]
"""The readers in the package: `default` reads best; `free` learned from no research data."""
READERS: tuple[ReaderName, ...] = get_args(ReaderName)
DEFAULT_READER: ReaderName = READERS[0]

MAX_CLI_VARIANTS = 16
"""The most variants of one `t2o edit`; Python has no limit."""
MAX_API_VARIANTS = 12
DEFAULT_API_VARIANTS = 4
MAX_API_STRENGTH = 4.0
"""The largest strength in the API; Python and the command line have no limit."""

EDITED_SUFFIX = "edited"
"""Suffix of the names of results of `t2o edit`: X-edited.jpg, or the folder X-edited."""
MATCHED_SUFFIX = "matched"
"""The same for `t2o match`."""


def check_reader(name: str) -> None:
    """Raise RequestError for a name that no reader has."""
    if name not in READERS:
        raise RequestError(f"there is no reader {name!r}; there are {', '.join(READERS)}")


def reconcile_mode(mode: Mode, manner: Mode | None, name: str = "mode", old_name: str = "manner") -> Mode:
    """The mode, which older programs give under the name `manner`; the two may not contradict each other."""
    if manner is None:
        return mode
    if mode not in (DEFAULT_MODE, manner):
        raise RequestError(f"{name} {mode} and {old_name} {manner} contradict each other; give {name} alone")
    return manner
