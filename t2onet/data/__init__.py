"""Datasets of (photo, request, target): published, your own, simulated; and their plans."""

from .sample import Dataset, Problem, Sample

__all__ = ["Dataset", "Problem", "Sample"]
