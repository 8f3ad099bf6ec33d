"""Settings of a run: plain dataclasses, changed by `name=value`, stored as JSON beside the weights."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from ..errors import TrainingError

S = TypeVar("S")


@dataclass(frozen=True)
class LoopSettings:
    """Settings of the loop, shared by all configs."""

    iterations: int = 3000
    batch: int = 64
    """Of all processes together."""
    seed: int = 0
    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    weight_decay: float = 0.0
    schedule: Literal["constant", "cosine"] = "constant"
    warm_up: int = 0
    """Iterations over which the learning rate rises from zero."""
    clip: float = 0.0
    """Maximum norm of the gradient; 0 for no limit."""
    ema: float = 0.0
    """Decay of the moving average of weights (.999, say); 0 for no average."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Of the network; operations on pictures always run in float32."""
    validate_every: int = 250
    patience: int = 0
    """Stop after this many iterations without a better figure; 0 for never."""

    def __post_init__(self) -> None:
        for name in ("iterations", "batch", "validate_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")


def apply_assignments(settings: S, assignments: Iterable[str]) -> S:
    """Apply each `name=value`; names of nested settings are given alone (`hidden`, not `network.hidden`)."""
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise TrainingError(f"{assignment!r} is not a setting; settings are given as name=value")
        settings = _assign(settings, name.strip(), text.strip())
    return settings


def setting_names(settings: object) -> Iterator[str]:
    """The names of all settings, nested ones included."""
    for field in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, field.name)
        yield from setting_names(value) if is_dataclass(value) else (field.name,)


def settings_to_json(settings: object) -> str:
    return json.dumps(asdict(settings), sort_keys=True)  # type: ignore[call-overload]


def _assign(settings: S, name: str, text: str) -> S:
    hints = get_type_hints(type(settings))
    for field in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, field.name)
        try:
            if field.name == name and not is_dataclass(value):
                return replace(settings, **{name: _parse_value(name, text, hints[name])})  # type: ignore[type-var]
            if is_dataclass(value) and name in setting_names(value):
                return replace(settings, **{field.name: _assign(value, name, text)})  # type: ignore[type-var]
        except ValueError as error:
            raise TrainingError(f"{name}={text} is refused: {error}") from error
    near = get_close_matches(name, list(setting_names(settings)), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(setting_names(settings))}."
    raise TrainingError(f"there is no setting {name!r}; {hint}")


def _parse_value(name: str, text: str, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise TrainingError(f"{name} must be one of {', '.join(get_args(kind))}, not {text!r}")
        return text
    if get_origin(kind) is tuple:
        kind, *_ = get_args(kind)
        return tuple(_parse_value(name, part.strip(), kind) for part in text.split(",") if part.strip())
    if kind is bool:
        if text not in ("true", "false"):
            raise TrainingError(f"{name} must be true or false, not {text!r}")
        return text == "true"
    try:
        return kind(text)
    except ValueError:
        expected = "a whole number" if kind is int else "a number"
        raise TrainingError(f"{name} must be {expected}, not {text!r}") from None
