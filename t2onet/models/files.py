"""Files of networks: weights that say what they belong to, and ONNX graphs that run without torch.

The metadata of weights names the network, its words and operations. A decoder becomes two graphs: `begin`,
run once per request, and `step`, run once per operation. Whatever the weights of a graph are stored as, they
are widened to single precision when it is loaded.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from ..errors import TrainingError
from ..image import check_regular_file, write_atomically
from ..inference import NETWORK_FILES, T2ONET
from ..language import Vocabulary
from .baselines import BASELINES
from .discriminator import Discriminator, DiscriminatorConfig
from .reader import GRAPH_OUTPUTS, ReaderGraph, ReaderNetwork
from .t2onet import DecoderContext, StepOutput, T2ONet, T2ONetConfig


@dataclass(frozen=True)
class NetworkKind:
    """A kind of network: `build(config, words)` makes one for a vocabulary of `words` words."""

    config: type[Any]
    build: Callable[[Any, int], nn.Module]


NETWORK_KINDS: dict[str, NetworkKind] = {
    "t2onet": NetworkKind(T2ONetConfig, T2ONet),
    "discriminator": NetworkKind(DiscriminatorConfig, Discriminator),
    **{name: NetworkKind(baseline.config, baseline.generator) for name, baseline in BASELINES.items()},
}


@dataclass(frozen=True)
class LoadedNetwork:
    """A network in evaluation mode, and what its file says of it."""

    network: nn.Module
    vocabulary: Vocabulary
    metadata: Mapping[str, str]
    config: Any
    """The config of its kind."""


def describe_network(kind: str, config: Any, vocabulary: Vocabulary) -> dict[str, str]:
    """The metadata that `load_network` needs."""
    return {"network": kind, "config": json.dumps(asdict(config)), "words": json.dumps(vocabulary.words)}


def load_network(path: Path) -> LoadedNetwork:
    """Rebuild the network of a file of weights."""
    tensors, metadata = read_tensors(path)
    if (kind := NETWORK_KINDS.get(metadata.get("network", ""))) is None:
        raise TrainingError(f"{path} holds no network of this release; give the best.safetensors of a run")
    fields = json.loads(metadata["config"])
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    vocabulary = Vocabulary(tuple(json.loads(metadata["words"])))
    config = kind.config(**{**fields, **lists})
    network = kind.build(config, len(vocabulary))
    network.load_state_dict(tensors)
    return LoadedNetwork(network.eval(), vocabulary, metadata, config)


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str], *, overwrite: bool = True
) -> None:
    """Write tensors and metadata atomically; by default an existing file is replaced."""
    stored = {key: value.detach().cpu().contiguous() for key, value in tensors.items()}
    write_atomically(path, save(stored, dict(metadata)), overwrite=overwrite)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """All tensors of a file, on the CPU, and its metadata."""
    try:
        check_regular_file(path)
        with safe_open(path, "pt") as file:
            return {key: file.get_tensor(key) for key in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{path} cannot be read as weights: {error}") from None


WeightFormat = Literal["float32", "float16", "int8"]
"""How weights are stored; int8 has a scale for each row."""
_OPSET = 18
_SMALL_TENSOR = 1024
"""Tensors with fewer numbers stay in single precision."""


def export_graph(
    part: nn.Module,
    inputs: tuple[Tensor, ...],
    names: Sequence[str],
    outputs: Sequence[str],
    *,
    axes: Mapping[str, Mapping[int, str]],
    stored: WeightFormat = "float16",
    halved: Collection[str] = (),
) -> bytes:
    """Export a module, traced with `inputs`; `axes` names the axes of variable length, by tensor.

    Weights in `halved` are stored in 16 bits where the others have 8.
    """
    stream: Any = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            part.eval(),
            inputs,
            stream,
            input_names=list(names),
            output_names=list(outputs),
            dynamic_axes={name: axes[name] for name in (*names, *outputs) if name in axes},
            opset_version=_OPSET,
            dynamo=False,
        )
    return compress_weights(stream.getvalue(), stored, halved)


def export_reader(
    network: ReaderNetwork,
    prototypes: Tensor,
    pieces: Sequence[str],
    looks: Sequence[str],
    path: Path,
    *,
    stored: WeightFormat = "int8",
) -> None:
    """Export the reader as one file, with its vocabulary and the names of its looks inside."""
    import onnx

    example = torch.tensor([[2, 5, 6, 7, 3]])
    axes = {name: {0: "batch", 1: "length"} for name in ("pieces", *GRAPH_OUTPUTS)}
    axes["belongs"] = {0: "batch", 1: "length", 2: "length"}
    graph = export_graph(
        ReaderGraph(network, prototypes), (example,), ["pieces"], GRAPH_OUTPUTS, axes=axes, stored=stored
    )
    model = onnx.load_from_string(graph)
    for key, lines in (("pieces", pieces), ("looks", looks)):
        entry = model.metadata_props.add()
        entry.key, entry.value = key, "\n".join(lines)
    write_atomically(path, model.SerializeToString(), overwrite=True)


_PAGE = 4096
"""Weights in a file of their own begin at multiples of this, so that they can be mapped into memory."""


def share_weights(paths: Sequence[Path], shared: Path) -> int:
    """Move the weights of 8 bits that all graphs have in common into one file beside them; returns its size.

    Each graph refers to that file by name, so they have to stay in one folder.
    """
    import onnx
    from onnx import TensorProto
    from onnx.external_data_helper import set_external_data

    models = [onnx.load(path) for path in paths]
    large = [
        {
            one.raw_data: one
            for one in model.graph.initializer
            if one.data_type == TensorProto.INT8 and len(one.raw_data) >= _SMALL_TENSOR
        }
        for model in models
    ]
    content = bytearray()
    for weights in sorted(set(large[0]).intersection(*large[1:])):
        content.extend(b"\0" * (-len(content) % _PAGE))
        for tensors in large:
            tensor = tensors[weights]
            set_external_data(tensor, shared.name, len(content), len(weights))
            tensor.ClearField("raw_data")
        content.extend(weights)
    write_atomically(shared, bytes(content), overwrite=True)
    for path, model in zip(paths, models, strict=True):
        write_atomically(path, model.SerializeToString(), overwrite=True)
    return len(content)


def compress_weights(graph: bytes, stored: WeightFormat, halved: Collection[str] = ()) -> bytes:
    """Store the large weights of a graph in another format, with nodes that widen them.

    Those named in `halved` have at least 16 bits.
    """
    import onnx
    from onnx import TensorProto, numpy_helper

    model = onnx.load_from_string(graph)
    nodes: list[Any] = []
    for weight in list(model.graph.initializer):
        values = numpy_helper.to_array(weight)
        if stored != "float32" and weight.data_type == TensorProto.FLOAT and values.size >= _SMALL_TENSOR:
            is_half = stored == "float16" or weight.name in halved
            store = _store_as_float16 if is_half else _store_as_int8
            tensors, widening = store(weight.name, values)
            weight.CopyFrom(tensors[0])
            model.graph.initializer.extend(tensors[1:])
            nodes += widening
    rest = [*nodes, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(rest)
    onnx.checker.check_model(model)
    compact: bytes = model.SerializeToString()
    return compact


def _store_as_float16(name: str, values: np.ndarray) -> tuple[list[Any], list[Any]]:
    """The tensors to store, and the nodes that turn them into the tensor `name`."""
    from onnx import TensorProto, helper, numpy_helper

    half = numpy_helper.from_array(values.astype(np.float16), f"{name}.half")
    return [half], [helper.make_node("Cast", [half.name], [name], to=TensorProto.FLOAT)]


def _store_as_int8(name: str, values: np.ndarray) -> tuple[list[Any], list[Any]]:
    """The same in 8 bits, with a scale for each output."""
    from onnx import TensorProto, helper, numpy_helper

    levels, scale = quantize(values)
    parts = {"int8": levels, "scale": scale}
    stored = [numpy_helper.from_array(part, f"{name}.{kind}") for kind, part in parts.items()]
    return stored, [
        helper.make_node("Cast", [f"{name}.int8"], [f"{name}.wide"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{name}.wide", f"{name}.scale"], [name]),
    ]


def quantize(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Levels (int8) and scales (float32) whose product approximates `values`.

    There is a scale per output: along the first axis of a convolution (out, in, h, w), and along all axes but
    the last of other weights, (out, in) or an LSTM's (directions, out, in).
    """
    axes = (1, 2, 3) if values.ndim == 4 else (values.ndim - 1,)
    largest = np.abs(values).max(axis=axes, keepdims=True)
    scale = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    return np.rint(values / scale).astype(np.int8), scale


T2ONET_SIDE = 128
"""Pixels a side of the photos it sees, as in the paper."""
_T2ONET_AXES = {"tokens": {1: "count"}, "words": {1: "count"}, "attention": {1: "count"}}


_T2ONET_STEP_INPUTS = ("words", "picture", "previous", "state")
_T2ONET_STEP_OUTPUTS = ("logits", "parameters", "next_state", "attention")


class _T2ONetBegin(nn.Module):
    def __init__(self, network: T2ONet) -> None:
        super().__init__()
        self.network = network

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        context = self.network.begin(tokens, None)
        return context.words, context.state


class _T2ONetStep(nn.Module):
    def __init__(self, network: T2ONet) -> None:
        super().__init__()
        self.network = network

    def forward(self, words: Tensor, picture: Tensor, previous: Tensor, state: Tensor) -> StepOutput:
        context = DecoderContext(words, torch.ones_like(words[..., 0], dtype=torch.bool), state)
        return self.network.step(context, self.network.encode_image(picture), previous, state)


def export_t2onet(
    network: T2ONet,
    vocabulary: Vocabulary,
    folder: Path,
    stored: WeightFormat = "int8",
    *,
    overwrite: bool = True,
) -> None:
    """Write both graphs and `about.json`: words, operations and the maximum of steps."""
    network = network.eval()
    tokens = torch.ones(1, 3, dtype=torch.int64)
    begin = export_graph(
        _T2ONetBegin(network), (tokens,), ("tokens",), ("words", "state"), axes=_T2ONET_AXES, stored=stored
    )
    with torch.no_grad():
        words, state = _T2ONetBegin(network)(tokens)
    inputs = (words, torch.rand(1, 3, T2ONET_SIDE, T2ONET_SIDE), torch.tensor([network.actions.start]), state)
    step = export_graph(
        _T2ONetStep(network),
        inputs,
        _T2ONET_STEP_INPUTS,
        _T2ONET_STEP_OUTPUTS,
        axes=_T2ONET_AXES,
        stored=stored,
    )
    about = {
        "kind": T2ONET,
        "side": T2ONET_SIDE,
        "operations": network.actions.names,
        "ends": network.actions.ends,
        "max_steps": network.max_steps,
        "words": vocabulary.words,
    }
    contents = (begin, step, json.dumps(about, indent=1).encode() + b"\n")
    for name, content in zip(NETWORK_FILES, contents, strict=True):
        write_atomically(folder / name, content, overwrite=overwrite)
