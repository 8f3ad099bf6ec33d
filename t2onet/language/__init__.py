"""Requests as words: what they ask for, their tokens, vocabulary and embeddings."""

from .embeddings import Embeddings, read_glove
from .foreign import is_foreign
from .intent import Attribute, Intent
from .tokeniser import tokens
from .vocabulary import Vocabulary

__all__ = ["Attribute", "Embeddings", "Intent", "Vocabulary", "is_foreign", "read_glove", "tokens"]
