"""`t2o data`: datasets of photos, requests and plans."""

from __future__ import annotations

import typer

from . import simulate

app = typer.Typer(
    help="Datasets: simulate requests, plan all pairs, pack and show them.", no_args_is_help=True
)
app.command("simulate")(simulate.simulate_requests)
