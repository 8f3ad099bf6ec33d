"""Tokens: validation, encoding for links, and comparison with what a client sends."""

from __future__ import annotations

import secrets
from urllib.parse import quote, unquote_to_bytes

from ..errors import ServerError

_MIN_CHARACTERS = 8


def check_token(token: str) -> None:
    """Refuse a token that is easy to guess, or that no link or header can carry."""
    if len(token) < _MIN_CHARACTERS:
        raise ServerError(
            f"a token of fewer than {_MIN_CHARACTERS} characters is too easy to guess; give a longer one"
        )
    if token != token.strip():
        raise ServerError("a token neither begins nor ends with a blank, which HTTP drops; give another one")
    if not token.isprintable():
        raise ServerError("a token holds printable characters only; give another one")


def encode_token(token: str) -> str:
    """For a link or a cookie: percent-encoded, so that nothing in it ends the token."""
    return quote(token, safe="")


def is_token(given: str, token: str) -> bool:
    """Whether a client sent the token: as its UTF-8 bytes, or percent-encoded as in the link.

    `given` is text in which each character stands for a byte, as headers are read. Takes as long for a wrong
    token as for the right one.
    """
    secret = token.encode()
    readings = (given.encode("latin-1"), unquote_to_bytes(given))
    return any([secrets.compare_digest(reading, secret) for reading in readings])  # noqa: C419  in constant time
