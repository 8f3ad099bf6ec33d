"""Attributes and following, distances between pictures and between sets of pictures, and statistics."""
