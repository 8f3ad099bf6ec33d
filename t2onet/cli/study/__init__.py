"""`t2o study`: ratings and requests from people."""

from __future__ import annotations

import typer

from . import annotate, export, free, rate, results

app = typer.Typer(
    help="Studies with people: rate pictures blind, write requests for pairs (the extra `study`).",
    no_args_is_help=True,
)
app.command("rate")(rate.rate_outputs)
app.command("annotate")(annotate.annotate_pairs)
app.command("results")(results.show_results)
app.command("export")(export.export_study)
app.command("free")(free.free_study_places)
