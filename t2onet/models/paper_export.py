"""T2ONet as two ONNX graphs: `begin` reads a request, `step` sees the photo and decides on an operation."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import Tensor, nn

from ..image import write_atomically
from ..language import Vocabulary
from ..policy import FILES, T2ONET
from .graphs import Stored, graph_of
from .network import Context, StepOutput
from .paper import T2ONet

SIDE = 128
"""Pixels a side of the photos that it sees, as in the paper."""
_AXES = {"tokens": {1: "count"}, "words": {1: "count"}, "attention": {1: "count"}}


_STEP_IN = ("words", "picture", "previous", "state")
_STEP_OUT = ("logits", "parameters", "next_state", "attention")


class _Begin(nn.Module):
    def __init__(self, network: T2ONet) -> None:
        super().__init__()
        self.network = network

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        context = self.network.begin(tokens, None, tokens)
        return context.words, context.state


class _Step(nn.Module):
    def __init__(self, network: T2ONet) -> None:
        super().__init__()
        self.network = network

    def forward(self, words: Tensor, picture: Tensor, previous: Tensor, state: Tensor) -> StepOutput:
        context = Context(words, torch.ones_like(words[..., 0], dtype=torch.bool), state)
        return self.network.step(context, self.network.look(picture), previous, state)


def export_t2onet(
    network: T2ONet, vocabulary: Vocabulary, folder: Path, stored: Stored = "int8", *, overwrite: bool = True
) -> None:
    """Write both graphs and `about.json`: the words, the operations and the most steps."""
    network = network.eval()
    tokens = torch.ones(1, 3, dtype=torch.int64)
    begin = graph_of(_Begin(network), (tokens,), ("tokens",), ("words", "state"), axes=_AXES, stored=stored)
    with torch.no_grad():
        words, state = _Begin(network)(tokens)
    inputs = (words, torch.rand(1, 3, SIDE, SIDE), torch.tensor([network.actions.start]), state)
    step = graph_of(_Step(network), inputs, _STEP_IN, _STEP_OUT, axes=_AXES, stored=stored)
    about = {
        "kind": T2ONET,
        "side": SIDE,
        "operations": network.actions.names,
        "ends": network.actions.ends,
        "max_steps": network.max_steps,
        "words": vocabulary.words,
    }
    for name, content in zip(FILES, (begin, step, json.dumps(about, indent=1).encode() + b"\n"), strict=True):
        write_atomically(folder / name, content, overwrite=overwrite)
