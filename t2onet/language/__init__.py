"""Requests as words: their wishes, found by a network; and words as numbers, for the paper's networks."""

from .intent import Attribute, Intent
from .vocabulary import Embeddings, Vocabulary, read_glove, tokens

__all__ = ["Attribute", "Embeddings", "Intent", "Vocabulary", "read_glove", "tokens"]
