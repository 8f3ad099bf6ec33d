"""`t2o learn`: a style from pairs of one retoucher."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .common import (
    EXIT_INTERRUPTED,
    JobsOption,
    JsonOption,
    QuietOption,
    check_new_file,
    exit_on_error,
    exit_with_error,
    print_json,
    print_line,
    print_problems,
    show_progress,
)

if TYPE_CHECKING:
    from ..editor.learning import HeldOut, LearnedStyle

JOURNAL_SUFFIX = ".journal"
"""Added to the name of the style while it is learned."""


@exit_on_error
def learn_style(
    pairs: Annotated[
        list[Path],
        typer.Argument(
            metavar="PAIRS",
            help="Folder with before/ and after/, folder of photos beside their edits, or the folder of the "
            "photos and that of the edits.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="File to write, such as mine.style.")
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Learn your style from 5 to 5,000 photos and your edits of them; print how well it predicts others.

    `t2o edit --style FILE` retouches photos in that style. A run that was stopped continues where it was.
    """
    from ..data.retouches import find_retouches
    from ..editor.learning import learn_style
    from ..image import check_writable

    if len(pairs) > 2:
        exit_with_error(
            f"{len(pairs)} folders were given; give one of pairs, or one of photos and one of edits"
        )
    check_new_file(output, overwrite)
    check_writable(output, overwrite=overwrite)
    found, problems = find_retouches(*pairs)
    journal = output.with_name(output.name + JOURNAL_SUFFIX)
    try:
        with show_progress(quiet=quiet or as_json) as show:
            learned = learn_style(
                found, journal=journal, jobs=jobs, progress=lambda done, total: show("pairs", done, total)
            )
    except KeyboardInterrupt:
        exit_with_error("stopped; the same command continues where it stopped", EXIT_INTERRUPTED)
    learned.style.save(output, overwrite=overwrite)
    if not learned.may_be_readable_later:
        journal.unlink(missing_ok=True)
    print_problems(problems, "note: left out")
    for name, reason in learned.left_out.items():
        print_line(f"note: left out: {name}: {reason}")
    if learned.may_be_readable_later and journal.exists():
        print_line(f"note: {journal} is kept; the same command with --overwrite reads only what was left out")
    if as_json:
        _print_learned_json(learned, output, [str(problem) for problem in problems])
        return
    if not quiet:
        print_line(f"{learned.style.pairs} pairs learned -> {output}", err=False)
        print_line(describe_held_out(learned.held_out), err=False)
    for note in list_doubts(learned):
        print_line(f"note: {note}")


def describe_held_out(held_out: HeldOut) -> str:
    """How well a style predicts pairs that were held out, in one sentence."""
    none, mean, style = map(format_difference, (held_out.none, held_out.mean, held_out.style))
    return (
        f"Pairs of yours that were held out: mean difference {none} -> {style} "
        f"({mean} if all photos were given one mean look)"
    )


def format_difference(value: float) -> str:
    """A mean difference in [0, 1] with three decimals, without the zero."""
    return f"{value:.3f}".removeprefix("0")


def list_doubts(learned: LearnedStyle) -> list[str]:
    """Why a style may disappoint."""
    from ..editor.learning import FEW_PAIRS

    held_out, doubts = learned.held_out, []
    if learned.style.pairs < FEW_PAIRS:
        doubts.append(
            f"{learned.style.pairs} pairs are few, and what they predict depends much on which they are; "
            f"{FEW_PAIRS} or more are better"
        )
    if held_out.is_contradictory:
        doubts.append(
            "these pairs contradict each other: what is learned from some predicts the others hardly better "
            "than no change; give pairs of one retoucher in one style, whole photos and the same framing"
        )
    elif held_out.is_arbitrary:
        doubts.append(
            "these pairs differ in ways that their photos do not explain, so that the style is hardly better "
            "than one mean look; give more pairs, or pairs in one style"
        )
    return doubts


def _print_learned_json(learned: LearnedStyle, output: Path, problems: list[str]) -> None:
    print_json(
        {
            "path": str(output),
            "pairs": learned.style.pairs,
            "left_out": [*problems, *(f"{name}: {reason}" for name, reason in learned.left_out.items())],
            "held_out": {
                "none": learned.held_out.none,
                "mean": learned.held_out.mean,
                "style": learned.held_out.style,
            },
            "doubts": list_doubts(learned),
        }
    )
