"""`t2o evaluate`: how near the expert an editor comes, and whether it does what was said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .common import AsJson, console, print_json, refusing, say

if TYPE_CHECKING:
    from ..policy import Policy


@refusing
def evaluate_editor(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="MA5k-Req, or pairs with requests.")],
    gier: Annotated[
        Path | None, typer.Option(metavar="DIR", help="GIER, for the labelled requests that are from there.")
    ] = None,
    system: Annotated[
        Literal["default", "keywords"],
        typer.Option(help="default is the shipped network; keywords are rules, the baseline."),
    ] = "default",
    split: Annotated[str, typer.Option(help="Split to measure on.")] = "val",
    count: Annotated[int | None, typer.Option(min=1, help="The most pairs; by default all.")] = None,
    each: Annotated[int, typer.Option(min=1, help="Photos for each labelled request.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="Of all drawing.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure an editor on photos it has not seen and on requests labelled by hand."""
    from ..data import open_dataset
    from ..reports.evaluation import cases, evaluate
    from ..reports.labelled import labelled_requests, texts

    policy = _policy(system)
    data = open_dataset(dataset, splits=[split])
    labels = [label for label in labelled_requests() if label.split == split]
    ma5k = dataset if data.layout == "ma5k-req" else None
    sentences = texts(labels, ma5k, gier)
    with console(stderr=True).status("reading") as status:
        found = cases(data, split, policy.side, count, seed)
        result = evaluate(policy, found, sentences, each=each, seed=seed, progress=status.update)
    facts = {
        "system": system,
        "split": split,
        "pairs": len(found),
        "labelled requests": len(sentences),
        "photos each": each,
        "seed": seed,
        "data": data.fingerprint,
    }
    if as_json:
        print_json({**facts, "figures": result.figures, "detail": dict(result.lines())})
        return
    say(", ".join(f"{name} {value}" for name, value in facts.items()), err=False)
    for name, value in result.lines():
        say(f"{name:44} {value}", err=False)


def _policy(system: str) -> Policy:
    if system == "keywords":
        from ..reports.keyword_policy import KeywordPolicy

        return KeywordPolicy()
    from ..policy import shipped

    return shipped()
