"""Words that are in every request and say nothing about what it asks for."""

from __future__ import annotations

_STOP_WORDS = """
    a an the this that these those it its it's i i'd i'm me my we us our you your he she they them his her
    their there here now photo photograph picture image pic img shot make makes making made get give put do
    does did done doing don't be is are was were am been being have has had look looks looking please pls plz
    just can could would should will may might must shall want need needs like and or but then also plus so
    as at by for from in into of on to with hi hello hey thanks thank thx if ok okay
"""
_KNOWN = frozenset(_STOP_WORDS.split())


def says(word: str) -> bool:
    """Whether a word (in small letters) can be a reason for anything; signs cannot either."""
    return word[:1].isalnum() and word not in _KNOWN
