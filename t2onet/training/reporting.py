"""What a person sees of a run: a line that lives on a terminal, plain lines elsewhere, and TensorBoard."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

FIGURES_FILE = "figures.jsonl"


class Reporter:
    """Writes to `stream` and, in `folder`, figures as lines of JSON and TensorBoard's events."""

    def __init__(self, stream: TextIO, folder: Path) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._folder = folder
        self._board = _open_tensorboard(folder / "events")
        self._open = 0
        """How long the line is that stands on the terminal without its end."""

    def progress(self, iteration: int, of: int, parts: Mapping[str, float], rate: float) -> None:
        """The mean losses since the last call, and iterations a second."""
        told = f"{iteration}/{of}  {_format_figures(parts)}  {rate:.2f}/s"
        self._line(told, stays=not self._live)
        self._scalars("train", iteration, parts)

    def validated(self, iteration: int, figures: Mapping[str, float], best: bool) -> None:
        self._line(f"{iteration}: {_format_figures(figures)}{'  best so far' if best else ''}")
        self._scalars("validation", iteration, figures)
        with (self._folder / FIGURES_FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"iteration": iteration, **figures}) + "\n")

    def say(self, text: str) -> None:
        self._line(text)

    def close(self) -> None:
        if self._open:
            self._line("")
        if self._board is not None:
            self._board.close()

    def _line(self, text: str, *, stays: bool = True) -> None:
        start = "\r" if self._open else ""
        self._stream.write(f"{start}{text.ljust(self._open)}" + ("\n" if stays else ""))
        self._stream.flush()
        self._open = 0 if stays else len(text)

    def _scalars(self, group: str, iteration: int, figures: Mapping[str, float]) -> None:
        if self._board is not None:
            for name, value in figures.items():
                self._board.add_scalar(f"{group}/{name}", value, iteration)


class SilentReporter(Reporter):
    """For all processes but the first."""

    def __init__(self) -> None:
        pass

    def progress(self, iteration: int, of: int, parts: Mapping[str, float], rate: float) -> None:
        pass

    def validated(self, iteration: int, figures: Mapping[str, float], best: bool) -> None:
        pass

    def say(self, text: str) -> None:
        pass

    def close(self) -> None:
        pass


def _format_figures(figures: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {value:.4f}" for name, value in figures.items())


def _open_tensorboard(folder: Path) -> Any:
    """A writer of events, or None where TensorBoard is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder))
