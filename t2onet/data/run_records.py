"""What training leaves in the folder of a run, for everyone who asks how far it came and how it was trained.

Needs safetensors for checkpoints, and no torch.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import DataError, TrainingError

BEST_WEIGHTS_FILE = "best.safetensors"
CHECKPOINT_FILE = "checkpoint.safetensors"
RUN_RECORD_FILE = "run.json"
"""How far a run is and its settings, for when the checkpoint is gone."""


def read_run_record(folder: Path) -> dict[str, Any] | None:
    """`progress` and `settings` of a run, from its checkpoint or the record beside its weights."""
    path = folder / CHECKPOINT_FILE
    try:
        if path.is_file():
            metadata = read_tensor_metadata(path)
            return {name: json.loads(metadata[name]) for name in ("progress", "settings")}
        path = folder / RUN_RECORD_FILE
        if not (
            path.is_file() and (folder / BEST_WEIGHTS_FILE).is_file()
        ):  # without weights, of a run that is gone
            return None
        record = json.loads(path.read_text(encoding="utf-8"))
        return {name: record[name] for name in ("progress", "settings")}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise TrainingError(f"{path} cannot be read as the record of a run: {error}") from None


def read_tensor_metadata(path: Path) -> dict[str, str]:
    """The metadata of a file of tensors, without these."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise DataError(f"opening weights needs safetensors: pip install 't2onet[train]' ({error})") from None
    try:
        with safe_open(path, "np") as file:
            return file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{path} cannot be read as weights: {error}") from None
