"""ONNX Runtime with its telemetry switched off, and the files of networks. No other module imports it."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import RequestError

THREADS = 2
WEIGHTS_FOLDER = "weights"
"""Folder of the networks in the package."""
MEMORY_FILE = "memory.onnx"
"""The graph of an expert's style."""
CHANNELS = ("sky", "subject", "person", "face", "vegetation", "water", "building", "ground")
"""What the place network finds, in the order of its outputs."""
STRIDE = 32
"""The sides of the picture it sees are multiples of this."""
NETWORK_FILES = ("begin.onnx", "step.onnx", "about.json")
"""Files in the folder of an exported T2ONet."""
T2ONET = "t2onet"
"""What `about.json` says of its kind."""


def import_onnxruntime() -> ModuleType:
    """Import ONNX Runtime so that it opens no connection and keeps no files of its own.

    Its Linux builds report to their makers by default: they look up a host, and keep a device id and a queue
    of events below the user's cache folder. They read the variable below once, when first imported;
    `onnxruntime.disable_telemetry_events()` comes too late.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    return onnxruntime  # type: ignore[no-any-return]


def open_session(path: Path, *, optimize: bool = True) -> Any:
    """A graph that is ready to run.

    Optimizing turns weights of 8 bits to floats once and not in each run: opening a graph with many weights
    takes longer, and several times the memory.
    """
    try:
        onnxruntime = import_onnxruntime()
    except ImportError:
        raise RequestError("answering requests needs ONNX Runtime: pip install onnxruntime") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    # Threads that wait for work would keep cores busy that other photos need.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Changing the layout of weights as well takes longer than it saves on requests of a few words.
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_EXTENDED if optimize else levels.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
