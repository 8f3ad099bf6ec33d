"""Parts of networks as ONNX graphs, with their large weights stored in fewer bits.

Whatever the weights are stored as, they are widened to single precision when a graph is loaded.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

Stored = Literal["float32", "float16", "int8"]
"""How weights are stored; int8 has a scale for each row."""
_OPSET = 18
_SMALL = 1024
"""Tensors of fewer numbers stay in single precision."""


def graph_of(
    part: nn.Module,
    inputs: tuple[Tensor, ...],
    names: Sequence[str],
    outputs: Sequence[str],
    *,
    axes: Mapping[str, Mapping[int, str]],
    stored: Stored = "float16",
) -> bytes:
    """The graph of a part, traced with `inputs`; `axes` are those of any length, by the name of a tensor."""
    written: Any = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            part.eval(),
            inputs,
            written,
            input_names=list(names),
            output_names=list(outputs),
            dynamic_axes={name: axes[name] for name in (*names, *outputs) if name in axes},
            opset_version=_OPSET,
            dynamo=False,
        )
    return compacted(written.getvalue(), stored)


def compacted(graph: bytes, stored: Stored) -> bytes:
    """The same graph with its large weights stored so, each widened where it is used."""
    import onnx
    from onnx import TensorProto, numpy_helper

    model = onnx.load_from_string(graph)
    nodes: list[Any] = []
    for weight in list(model.graph.initializer):
        values = numpy_helper.to_array(weight)
        if stored != "float32" and weight.data_type == TensorProto.FLOAT and values.size >= _SMALL:
            kept, widening = (_halved if stored == "float16" else _quantized)(weight.name, values)
            weight.CopyFrom(kept[0])
            model.graph.initializer.extend(kept[1:])
            nodes += widening
    rest = [*nodes, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(rest)
    onnx.checker.check_model(model)
    compact: bytes = model.SerializeToString()
    return compact


def _halved(name: str, values: np.ndarray) -> tuple[list[Any], list[Any]]:
    """Tensors to store, and nodes that make of them the tensor `name`."""
    from onnx import TensorProto, helper, numpy_helper

    half = numpy_helper.from_array(values.astype(np.float16), f"{name}.half")
    return [half], [helper.make_node("Cast", [half.name], [name], to=TensorProto.FLOAT)]


def _quantized(name: str, values: np.ndarray) -> tuple[list[Any], list[Any]]:
    """The same in 8 bits; a row is what one output is computed from."""
    from onnx import TensorProto, helper, numpy_helper

    levels, scale = quantize(values)
    parts = {"int8": levels, "scale": scale}
    stored = [numpy_helper.from_array(part, f"{name}.{kind}") for kind, part in parts.items()]
    return stored, [
        helper.make_node("Cast", [f"{name}.int8"], [f"{name}.wide"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{name}.wide", f"{name}.scale"], [name]),
    ]


def quantize(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Levels (int8) and scales (float32) whose product is near `values`.

    There is a scale for each output: of a convolution (out, in, h, w) for the first axis, of other weights,
    (out, in) or an LSTM's (directions, out, in), for all axes but the last.
    """
    axes = (1, 2, 3) if values.ndim == 4 else (values.ndim - 1,)
    largest = np.abs(values).max(axis=axes, keepdims=True)
    scale = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    return np.rint(values / scale).astype(np.int8), scale
