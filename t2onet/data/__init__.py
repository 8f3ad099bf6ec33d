"""Datasets of (photo, request, target): published, your own, simulated; and their plans."""

from .dataset import Dataset, Problem, Sample
from .opening import LAYOUTS, open_dataset

__all__ = ["LAYOUTS", "Dataset", "Problem", "Sample", "open_dataset"]
