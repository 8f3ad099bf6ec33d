"""Edits drawn in photographic terms, and sentences that ask for them."""
