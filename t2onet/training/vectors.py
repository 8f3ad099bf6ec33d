"""`python -m t2onet.training.vectors`: a packed set's words and their GloVe vectors, beside it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..data.packed import read_packed
from ..errors import T2OError
from ..language import Vocabulary, read_glove
from .triplets import WORDS_FILE, WordVectors, list_training_requests, write_word_vectors


def main(arguments: list[str] | None = None) -> int:
    """Write the words of a packed set into its folder."""
    parser = argparse.ArgumentParser(prog="python -m t2onet.training.vectors", description=main.__doc__)
    parser.add_argument("packed", type=Path, help="folder of the packed set")
    parser.add_argument("--glove", type=Path, required=True, help="vectors: the published .h5, or GloVe text")
    parser.add_argument("--vocabulary", type=Path, help="published word list; by default from the requests")
    given = parser.parse_args(arguments)
    try:
        data = read_packed(given.packed)
        listed = given.vocabulary
        vocabulary = (
            Vocabulary.load(listed) if listed else Vocabulary.of(list_training_requests(data), minimum=2)
        )
        found = read_glove(given.glove, vocabulary)
        write_word_vectors(given.packed / WORDS_FILE, WordVectors(vocabulary, found.vectors))
    except T2OError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    told = f"{len(vocabulary)} words, {len(found.missing)} of them without a vector"
    sys.stdout.write(f"{told} -> {given.packed / WORDS_FILE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
