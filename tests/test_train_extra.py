"""What the code imports is what its extra brings."""

from __future__ import annotations

from tests.extras import PACKAGE, list_distributions, list_imported_distributions

TRAINING = sorted(
    path
    for folder in ("training", "models", "evaluation", "metrics", "data", "language")
    for path in (PACKAGE / folder).rglob("*.py")
    if path != PACKAGE / "data" / "plans" / "engines.py"  # its Ray engine needs the extra `cluster`
)
COMMANDS = [PACKAGE / "cli" / name for name in ("train.py", "recipes.py", "evaluate.py", "reproduce.py")]


def test_training_needs_nothing_beyond_the_extra_train() -> None:
    allowed = list_distributions("train")
    wrong = {
        str(path.relative_to(PACKAGE)): sorted(missing)
        for path in (*TRAINING, *COMMANDS)
        if (missing := set(list_imported_distributions(path)) - allowed)
    }
    assert wrong == {}


def test_imports_are_seen() -> None:
    assert "onnx" in set(list_imported_distributions(PACKAGE / "models" / "files.py"))
    assert {"torch", "accelerate"} <= set(list_imported_distributions(PACKAGE / "training" / "loop.py"))
    assert "scikit-image" in set(list_imported_distributions(PACKAGE / "metrics" / "distances.py"))
