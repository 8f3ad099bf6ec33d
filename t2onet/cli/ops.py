"""`t2o ops`: which operations there are, and what they take."""

from __future__ import annotations

from dataclasses import asdict

from .common import AsJson, console, print_json


def list_operations(as_json: AsJson = False) -> None:
    """List the operations with their parameters, ranges and defaults."""
    from ..operations import operations

    if as_json:
        print_json(
            [
                {"name": op.name, "help": op.help, "parameters": [asdict(p) for p in op.parameters]}
                for op in operations().values()
            ]
        )
        return
    from rich.table import Table

    table = Table("operation", "parameter", "range", "default", "unit", "meaning", box=None, pad_edge=False)
    for op in operations().values():
        table.add_row(f"[bold]{op.name}[/bold]", "", "", "", "", op.help)
        for p in op.parameters:
            name = p.name if p.count == 1 else f"{p.name} (x{p.count})"
            table.add_row("", name, f"{p.low:g} .. {p.high:g}", f"{p.default:g}", p.unit, p.help)
    console().print(table)
