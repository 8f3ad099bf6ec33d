"""Tiny networks in the ONNX format, written by hand: a few nodes on the channels of a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

FLOAT = TensorProto.FLOAT
ANY_SIZE = (1, 3, "height", "width")
REDDER = np.array([[10, 0, -10], [-5, 0, 5]], np.float32)
"""Scores of two classes, redder than blue and the other way round; their sigmoids do not add up to one."""


def write_network(
    path: Path,
    *nodes: tuple[str, dict[str, Any]],
    shape: tuple[object, ...] = ANY_SIZE,
    kind: int = FLOAT,
    answers: int = FLOAT,
    weights: np.ndarray | None = None,
) -> Path:
    """A chain of nodes from the input `picture`; with `weights` (K, 3) a Conv of one pixel comes first."""
    chain, last, constants = [], "picture", []
    if weights is not None:
        constants.append(numpy_helper.from_array(weights[:, :, None, None].astype(np.float32), "weights"))
        chain.append(helper.make_node("Conv", [last, "weights"], ["mixed"]))
        last = "mixed"
    for number, (name, attributes) in enumerate(nodes):
        chain.append(helper.make_node(name, [last], [f"after{number}"], **attributes))
        last = f"after{number}"
    graph = helper.make_graph(
        chain,
        "segmenter",
        [helper.make_tensor_value_info("picture", kind, list(shape))],
        [helper.make_tensor_value_info(last, answers, None)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.save(model, path)
    return path
