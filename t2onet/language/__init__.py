"""Requests as words: what they ask for, their tokens, vocabulary and embeddings."""

from .intent import Attribute, Intent

__all__ = ["Attribute", "Intent"]
