"""Requests as pieces of words, hashed: a word nobody has seen shares most of its pieces with one they have.

No vocabulary is kept: a piece's number is its checksum. The same text gives the same numbers everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

BUCKETS = 24_000
"""Numbers that pieces are hashed to; 0 means no piece."""
PIECES = 24
"""The most pieces of a word."""
LONGEST = 40
"""The most words of a request that are read."""
_LENGTHS = (3, 4)
_UNSEEN = ("Cf", "Cs")
"""Categories of characters without width, such as soft hyphens, and of bytes that were no text."""
_WORDS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+(?:[.,]\d+)?|[+\-%&!?/]")


def words(request: str) -> list[str]:
    """Lower-case words, numbers and the signs that matter (+ - %), as many as are read.

    Of a longer request the beginning and the end are kept: stories come first or last, wishes too.
    """
    seen = "".join(letter for letter in request if unicodedata.category(letter) not in _UNSEEN)
    found = _WORDS.findall(unicodedata.normalize("NFKC", seen).lower().replace("’", "'"))
    half = LONGEST // 2
    return found if len(found) <= LONGEST else found[:half] + found[-half:]


@lru_cache(maxsize=65536)
def pieces(word: str) -> tuple[int, ...]:
    """The word itself and its runs of three and four letters, its ends marked, as numbers from 1."""
    marked = f"<{word}>"
    runs = [marked[i : i + n] for n in _LENGTHS for i in range(len(marked) - n + 1)]
    distinct = dict.fromkeys([marked, *runs])
    return tuple(1 + crc32(piece.encode()) % (BUCKETS - 1) for piece in list(distinct)[:PIECES])


def spelt(requests: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distinct words as pieces (W, PIECES), row 0 for no word, and each request as rows of them (N, T).

    Both are filled up with 0; T is at least 1.
    """
    texts = [words(request) for request in requests]
    rows = {word: row for row, word in enumerate(dict.fromkeys(word for text in texts for word in text), 1)}
    table = np.zeros((len(rows) + 1, PIECES), np.int32)
    for word, row in rows.items():
        numbers = pieces(word)
        table[row, : len(numbers)] = numbers
    told = np.zeros((len(texts), max(map(len, texts), default=0) or 1), np.int32)
    for text, row_of_words in zip(texts, told, strict=True):
        row_of_words[: len(text)] = [rows[word] for word in text]
    return table, told
