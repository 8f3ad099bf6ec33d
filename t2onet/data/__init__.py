"""Datasets of (photo, request, target): published, your own, simulated; and their plans."""

from .dataset import Dataset, Problem, Sample
from .opening import LAYOUTS, drop_unreadable, open_dataset

__all__ = ["LAYOUTS", "Dataset", "Problem", "Sample", "drop_unreadable", "open_dataset"]
