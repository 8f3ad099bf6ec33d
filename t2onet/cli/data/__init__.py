"""`t2o data`: datasets of photos, requests and plans."""

from __future__ import annotations

import typer

from . import pack, plan, show, simulate, stats

app = typer.Typer(
    help="Datasets: simulate requests, plan all pairs, pack and show them.", no_args_is_help=True
)
app.command("simulate")(simulate.simulate_requests)
app.command("plan")(plan.plan_pairs)
app.command("pack")(pack.pack_dataset)
app.command("show")(show.show_pairs)
app.command("stats")(stats.show_statistics)
