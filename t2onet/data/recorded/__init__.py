"""Questions to systems and their answers as files, to measure a network where its weights are not.

Imports nothing beyond the standard library, NumPy and Pillow.
"""

from .answers import Answers, Painted, Recipes, read_answers
from .questions import Asked, Questions, key_of, read_questions

__all__ = [
    "Answers",
    "Asked",
    "Painted",
    "Questions",
    "Recipes",
    "key_of",
    "read_answers",
    "read_questions",
]
