"""ONNX Runtime with its telemetry switched off. No other module imports it."""

from __future__ import annotations

import os
from types import ModuleType


def import_onnxruntime() -> ModuleType:
    """Import ONNX Runtime so that it opens no connection and keeps no files of its own.

    Its Linux builds report to their makers by default: they look up a host, and keep a device id and a queue
    of events below the user's cache folder. They read the variable below once, when first imported;
    `onnxruntime.disable_telemetry_events()` comes too late.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    return onnxruntime  # type: ignore[no-any-return]
