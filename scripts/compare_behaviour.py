"""Record what `t2o edit`, `plan` and `apply` answer, and compare two such records.

    python scripts/compare_behaviour.py record BEFORE.json     # in one checkout, with its own environment
    python scripts/compare_behaviour.py record AFTER.json      # in the other, on the same machine
    python scripts/compare_behaviour.py compare BEFORE.json AFTER.json

A record holds every recipe and a SHA-256 of every picture written. Edits are those of the example photos by
40 requests in literal mode and 5 in expert mode; plans are of 20 of those pairs; the example looks are applied
to all example photos. Nothing outside the repository is read.
"""  # noqa: E501

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PHOTOS = sorted((ROOT / "examples").glob("*.jpg"))
LOOKS = sorted((ROOT / "examples" / "looks").glob("*.json"))
PLANS = 20

REQUESTS = (
    "brighter",
    "a bit darker",
    "much more contrast",
    "reduce the contrast slightly",
    "more vivid colours",
    "desaturate it a little",
    "make it black and white",
    "warmer",
    "cooler tones please",
    "sharpen the image",
    "softer",
    "make it pop",
    "a bit brighter, with richer colours",
    "increase brightness and contrast",
    "darken the photo and make it warmer",
    "less yellow",
    "add some green",
    "more blue in the picture",
    "remove the red tint",
    "too dark",
    "this is overexposed, fix it",
    "the colours look washed out",
    "vintage look",
    "moody and dark",
    "like a sunny afternoon",
    "brighten it without changing the colours",
    "more contrast but not darker",
    "keep the colours, just lighten",
    "+20 % contrast",
    "half a stop brighter",
    "turn up the saturation by 30",
    "brighter, sharper, warmer and more saturated",
    "please could you make my picture look a little less dull?",
    "incrase the contrst",
    "lift the shadows",
    "recover the highlights",
    "remove the person on the left and brighten",
    "darken the sky",
    "improve this photo",
    "make it look professional",
)
EXPERT_REQUESTS = ("fix this", "brighter", "warmer", "improve the lighting", "less contrast")


def run_t2o(*arguments: str) -> str:
    """Standard output of a command; 1 and 2 are answers, too: some or all photos were declined."""
    done = subprocess.run(
        [sys.executable, "-c", "from t2onet.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,  # so that this checkout is the one imported
        check=False,
    )
    if done.returncode not in {0, 1, 2} or not done.stdout:
        raise SystemExit(f"t2o {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def record_folder(folder: Path, label: str, record: dict[str, Any]) -> None:
    """Every file of a folder: recipes as JSON, pictures by their digest."""
    for path in sorted(folder.glob("*")):
        data = path.read_bytes()
        record[f"{label}: {path.name}"] = json.loads(data) if path.suffix == ".json" else digest(data)


def record_edits(folder: Path, record: dict[str, Any]) -> None:
    jobs = [("literal", request) for request in REQUESTS] + [
        ("expert", request) for request in EXPERT_REQUESTS
    ]
    for number, (mode, request) in enumerate(jobs):
        out = folder / f"edit-{number:02d}"
        photos = [str(path.relative_to(ROOT)) for path in PHOTOS]
        printed = run_t2o("edit", *photos, request, "--mode", mode, "-o", str(out), "--json")
        answers = json.loads(printed.replace(str(folder), "OUT"))
        record[f"edit {mode} {request!r}: answers"] = answers
        record_folder(out, f"edit {mode} {request!r}", record)
        print(f"edit {number + 1}/{len(jobs)}", file=sys.stderr)


def record_plans(folder: Path, record: dict[str, Any]) -> None:
    for number in range(PLANS):
        photo = PHOTOS[number % len(PHOTOS)]
        after = next((folder / f"edit-{number:02d}").glob(f"{photo.stem}*.jpg"))
        printed = run_t2o("plan", str(photo.relative_to(ROOT)), str(after), "--json")
        answer = json.loads(printed.replace(str(folder), "OUT"))
        for key in [key for key in answer if "second" in key]:
            del answer[key]
        record[f"plan {photo.stem} {REQUESTS[number]!r}"] = answer
        print(f"plan {number + 1}/{PLANS}", file=sys.stderr)


def record_looks(folder: Path, record: dict[str, Any]) -> None:
    for look in LOOKS:
        out = folder / f"look-{look.stem}"
        photos = [str(path.relative_to(ROOT)) for path in PHOTOS]
        run_t2o("apply", str(look.relative_to(ROOT)), *photos, "-o", str(out))
        record_folder(out, f"look {look.stem}", record)


def compare(before: Path, after: Path) -> int:
    """Print what differs; 0 where nothing does."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    different = [label for label in old | new if old.get(label) != new.get(label)]
    for label in different[:20]:
        print(f"different: {label}\n  before {old.get(label)}\n  after  {new.get(label)}")
    print(f"{len(old)} recorded before, {len(new)} after, {len(different)} different")
    return 1 if different else 0


def main() -> int:
    match sys.argv[1:]:
        case ["record", target]:
            record: dict[str, Any] = {}
            with tempfile.TemporaryDirectory() as temporary:
                record_edits(Path(temporary), record)
                record_plans(Path(temporary), record)
                record_looks(Path(temporary), record)
            Path(target).write_text(json.dumps(record, indent=1), encoding="utf-8")
            print(f"{len(record)} answers recorded in {target}")
            return 0
        case ["compare", before, after]:
            return compare(Path(before), Path(after))
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
