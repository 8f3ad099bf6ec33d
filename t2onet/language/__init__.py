"""Requests as words: their wishes, found by a network; and words as numbers, for the paper's networks."""

from ..operations import Attribute
from .vocabulary import Embeddings, Vocabulary, read_glove, tokens
from .wishes import Intent

__all__ = ["Attribute", "Embeddings", "Intent", "Vocabulary", "read_glove", "tokens"]
