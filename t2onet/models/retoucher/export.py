"""The network as two ONNX graphs: `begin`, once for a photo and a request, and `step`, for each operation.

An expert's memory is a third, which a folder may do without.

Weights are stored in half precision, unless told otherwise, and computed with in single precision.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from ...image import write_atomically
from ...language.grams import PIECES
from ...metrics.attributes import ORDER as ATTRIBUTES
from ...policy import FILES, MEMORY
from ..graphs import Stored, graph_of
from .memory import Memory
from .network import MANNERS, ORDER, SIDE, Context, Retoucher, Step

BEGIN, STEP, ABOUT = FILES
_BEGIN_IN = ("pieces", "told", "image", "manner")
_CONTEXT = ("words", "mask", "whole")
_STEP_IN = (*_CONTEXT, "picture", "number", "state")
_STEP_OUT = ("used", "parameters", "next_state", "attention")


class _Begin(nn.Module):
    def __init__(self, network: Retoucher) -> None:
        super().__init__()
        self.network = network

    def forward(self, pieces: Tensor, told: Tensor, image: Tensor, manner: Tensor) -> tuple[Tensor, ...]:
        found = self.network.begin(pieces, told, image, self.network.glance(image), manner)
        return found.words, found.mask, found.whole, found.verdict


class _Step(nn.Module):
    def __init__(self, network: Retoucher) -> None:
        super().__init__()
        self.network = network

    def forward(self, *inputs: Tensor) -> Step:
        words, mask, whole, picture, number, state = inputs
        context = Context(words, mask, whole, whole, whole)
        return self.network.step(context, self.network.glance(picture), number, state)


def export(
    network: Retoucher,
    folder: Path,
    verdicts: Sequence[str],
    caution: float = 0.0,
    stored: Stored = "float16",
    *,
    overwrite: bool = True,
) -> None:
    """Write both graphs and `about.json`, what a policy has to know of them.

    `number` is that of the operation in the network's order, shaped (1,); `verdicts` are names of the kinds
    of answer. `caution` is added to the logits of all answers but an edit.
    """
    network = network.eval()
    pieces, told = torch.ones(3, PIECES, dtype=torch.int64), torch.tensor([[1, 2]])
    image, manner = torch.rand(1, 3, SIDE, SIDE), torch.zeros(1, dtype=torch.int64)
    asked = (pieces, told, image, manner)
    begin = _graph(_Begin(network), asked, _BEGIN_IN, (*_CONTEXT, "verdict"), stored)
    with torch.no_grad():
        words, mask, whole, _ = _Begin(network)(*asked)
    told_so_far = (words, mask, whole, image, torch.zeros(1, dtype=torch.int64), whole)
    step = _graph(_Step(network), told_so_far, _STEP_IN, _STEP_OUT, stored)
    about = {"side": SIDE, "order": ORDER, "manners": MANNERS, "verdicts": list(verdicts), "caution": caution}
    files = {BEGIN: begin, STEP: step, ABOUT: json.dumps(about, indent=1).encode() + b"\n"}
    for name, content in files.items():
        write_atomically(folder / name, content, overwrite=overwrite)


def export_memory(memory: Memory, folder: Path, *, overwrite: bool = True) -> None:
    """Write the graph of a memory."""
    asked = (torch.rand(1, 3, SIDE, SIDE), torch.zeros(1, len(ATTRIBUTES)))
    graph = _graph(memory, asked, ("image", "wanted"), ("tones",), "float16")
    write_atomically(folder / MEMORY, graph, overwrite=overwrite)


def _graph(
    part: nn.Module, inputs: tuple[Tensor, ...], names: Sequence[str], found: Sequence[str], stored: Stored
) -> bytes:
    axes = {"pieces": {0: "distinct"}, "told": {1: "count"}, "words": {1: "count"}, "mask": {1: "count"}}
    axes["attention"] = {1: "count"}
    return graph_of(part, inputs, names, found, axes=axes, stored=stored)
