"""Datasets of (photo, request, target): published, your own, simulated; and their plans."""

from .checking import checked
from .opening import LAYOUTS, open_dataset
from .sample import Dataset, Problem, Sample

__all__ = ["LAYOUTS", "Dataset", "Problem", "Sample", "checked", "open_dataset"]
