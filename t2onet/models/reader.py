"""The reader: a pretrained sentence encoder that finds the wishes of a request, word by word.

At each piece of a word it says whether a wish has its head there and what the wish is; a matrix says which
other pieces belong to it. The encoder is MiniLM (six layers of BERT) with a smaller vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ..language.wishes import HUES, WHATS, WHERES, Amount, Direction, Role, Verb

WIDTH, HEADS, LAYERS, INNER, POSITIONS = 384, 12, 6, 1536, 128
LOOK_WIDTH = 96
"""Length of the vectors by which looks are compared."""
SLOTS = {
    "what": len(WHATS) + 1,
    "direction": len(Direction),
    "amount": len(Amount),
    "role": len(Role),
    "where": len(WHERES),
    "hue": len(HUES) + 1,
    "verb": len(Verb),
}
"""What is classified at each piece; number 0 of `what` and `hue` is none."""


class EncoderLayer(nn.Module):
    """One layer of BERT: attention, then two linear maps, each followed by normalization."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.attention_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        batch, length, _ = states.shape
        query, key, value = (
            linear(states).view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
            for linear in (self.query, self.key, self.value)
        )
        scores = query @ key.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5 + mask[:, None, None]
        mixed = (self.dropout(scores.softmax(-1)) @ value).transpose(1, 2).reshape(batch, length, WIDTH)
        states = self.attention_norm(states + self.dropout(self.output(mixed)))
        states = self.norm(states + self.dropout(self.outer(functional.gelu(self.inner(states)))))
        return states


class ReaderNetwork(nn.Module):
    """From numbers of word pieces (B, T) to logits of each slot, membership (B, T, T) and look vectors."""

    def __init__(self, pieces: int, layers: int = LAYERS, slots: Mapping[str, int] = SLOTS) -> None:
        super().__init__()
        self.pieces = nn.Embedding(pieces, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(EncoderLayer() for _ in range(layers))
        self.dropout = nn.Dropout(0.1)
        self.slots = nn.ModuleDict({name: nn.Linear(WIDTH, size) for name, size in slots.items()})
        self.member, self.owner = nn.Linear(WIDTH, 128), nn.Linear(WIDTH, 128)
        self.look = nn.Linear(WIDTH, LOOK_WIDTH)

    def add_slots(self, slots: Mapping[str, int]) -> None:
        """Add slots, and classes at the end of slots, with weights of zero."""
        for name, size in slots.items():
            wider = nn.Linear(WIDTH, size)
            with torch.no_grad():
                wider.weight.zero_()
                wider.bias.zero_()
                if name in self.slots:
                    known = cast(nn.Linear, self.slots[name])
                    wider.weight[: len(known.weight)] = known.weight
                    wider.bias[: len(known.bias)] = known.bias
            self.slots[name] = wider

    def encode(self, pieces: Tensor) -> Tensor:
        """States (B, T, WIDTH) of pieces (B, T); number 0 is padding."""
        mask = (pieces == 0) * -1e4
        positions = torch.arange(pieces.shape[1], device=pieces.device)
        states: Tensor = self.dropout(self.norm(self.pieces(pieces) + self.positions(positions)))
        for layer in self.layers:
            states = layer(states, mask.to(states.dtype))
        return states

    def forward(self, pieces: Tensor) -> dict[str, Tensor]:
        """Logits: `belongs`[b, i, j] is whether piece i belongs to the wish with its head at piece j."""
        states = self.encode(pieces)
        outputs: dict[str, Tensor] = {name: linear(states) for name, linear in self.slots.items()}
        outputs["belongs"] = self.member(states) @ self.owner(states).transpose(1, 2) * 128**-0.5
        outputs["look"] = functional.normalize(self.look(states), dim=-1)
        return outputs


_LAYER_NAMES = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "output",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "inner",
    "output.dense": "outer",
    "output.LayerNorm": "norm",
}
"""Parts of a layer as BERT's files call them, and as they are called here."""


def load_pretrained(network: ReaderNetwork, weights: Mapping[str, Tensor]) -> None:
    """Take over the encoder of BERT weights whose vocabulary has been reduced to the network's."""
    kind = weights["embeddings.token_type_embeddings.weight"][0].float()
    state = {
        "pieces.weight": weights["embeddings.word_embeddings.weight"].float(),
        "positions.weight": weights["embeddings.position_embeddings.weight"][:POSITIONS].float() + kind,
        "norm.weight": weights["embeddings.LayerNorm.weight"].float(),
        "norm.bias": weights["embeddings.LayerNorm.bias"].float(),
    }
    for number in range(len(network.layers)):
        for theirs, ours in _LAYER_NAMES.items():
            for part in ("weight", "bias"):
                state[f"layers.{number}.{ours}.{part}"] = weights[
                    f"encoder.layer.{number}.{theirs}.{part}"
                ].float()
    network.load_state_dict({**network.state_dict(), **state})


def load_exported(path: Path) -> tuple[ReaderNetwork, Tensor, list[str]]:
    """The network in an exported file, the vectors of its looks, and its word pieces.

    The file has 8 bits a weight, so this is where training goes on from rather than what was exported. Slots
    and classes that came since begin with zeros.
    """
    import onnx
    from onnx import numpy_helper

    model = onnx.load(path)
    stored = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    weights = {
        name.removesuffix(".int8"): value * stored[name.replace(".int8", ".scale")]
        if name.endswith(".int8")
        else value
        for name, value in stored.items()
        if not name.endswith(".scale")
    }
    pieces = next(one.value for one in model.metadata_props if one.key == "pieces").split("\n")
    layers = {name.split(".")[2] for name in weights if name.startswith("network.layers.")}
    sizes = {
        name: len(weights[f"network.slots.{name}.bias"])
        for name in SLOTS
        if f"network.slots.{name}.bias" in weights
    }
    network = ReaderNetwork(len(pieces), len(layers), sizes)
    state = network.state_dict()
    named = {name[8:]: value for name, value in weights.items() if name.startswith("network.")}
    # The matrices of linear maps lose their names; they stand in the order in which they are used.
    *maps, prototypes = (value.T for name, value in weights.items() if name.startswith("onnx::"))
    unnamed = [name for name in state if name not in named]
    for name, value in (*named.items(), *zip(unnamed, maps, strict=True)):
        state[name] = torch.from_numpy(np.array(value)).float()
    network.load_state_dict(state)
    if sizes != SLOTS:
        network.add_slots(SLOTS)
    return network, torch.from_numpy(np.array(prototypes)).float(), pieces


class ReaderGraph(nn.Module):
    """The network as it is exported: with the vectors of the looks, whose scores it gives for each piece."""

    def __init__(self, network: ReaderNetwork, prototypes: Tensor) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("prototypes", functional.normalize(prototypes.float(), dim=-1))

    def forward(self, pieces: Tensor) -> tuple[Tensor, ...]:
        """The outputs of `GRAPH_OUTPUTS`."""
        outputs = self.network(pieces)
        scores = outputs["look"] @ self.prototypes.T
        return (*(outputs[name] for name in SLOTS), outputs["belongs"], scores)


GRAPH_OUTPUTS = (*SLOTS, "belongs", "looks")
