"""Requests without photos, from annotation files as they were published with MA5k-Req and GIER."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from ...errors import DataError
from .model import Text

_SENTENCES = ("request", "expert_summary", "amateur_summary")
"""Keys of an entry that hold what somebody asked for: a sentence, or a list of them."""
_LEFT_OUT = ("request_idx", "workerId", "palette", "segment")
"""Keys of an entry that say nothing about the request."""


def read_texts(path: str | Path, complete: Container[str] = ()) -> list[Text]:
    """Every sentence of a JSON list of entries, in their order; the file's name begins with the split.

    Entries whose `output` has its stem in `complete` are left out: their photos are at hand.
    """
    path = Path(path)
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise DataError(f"{path} is not JSON ({error}); give the annotations as published") from None
    if not isinstance(entries, list) or not all(isinstance(e, dict) and "request" in e for e in entries):
        raise DataError(f"{path} is no list of entries with a request; give the annotations as published")
    split = path.stem.partition("_")[0]
    kept = (entry for entry in entries if Path(str(entry.get("output", ""))).stem not in complete)
    return [text for entry in kept for text in _texts(entry, split, path.stem)]


def _texts(entry: dict[str, Any], split: str, source: str) -> Iterator[Text]:
    labels = {key: value for key, value in entry.items() if key not in (*_SENTENCES, *_LEFT_OUT)}
    for kind in _SENTENCES:
        said = entry.get(kind, [])
        for sentence in [said] if isinstance(said, str) else said:
            if sentence.strip():
                yield Text(" ".join(sentence.split()), split, f"{source} {kind}", labels)
