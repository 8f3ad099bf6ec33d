"""What the commands on studies share: where a study is kept, and how it is served."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import StudyError
from ..common import say

if TYPE_CHECKING:
    from ...studies.joining import JoinLimits
    from ...studies.storage import Store

DATABASE = "studies.db"
LOCAL = "127.0.0.1"

Database = Annotated[
    str,
    typer.Option(
        metavar="FILE|URL",
        envvar="T2O_DATABASE",
        help="An SQLite file, or postgresql://user:password@host/name.",
    ),
]
Name = Annotated[
    str | None, typer.Option(metavar="NAME", help="Of the study; needed where the database has several.")
]
NewName = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="Of the study; by default that of the input.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Of all drawing.")]
Host = Annotated[
    str, typer.Option(help="Address to listen at; 0.0.0.0 for all, which puts the study on your network.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 for any that is free.")]
Url = Annotated[
    str | None, typer.Option(metavar="URL", help="How others reach this server, for the links it prints.")
]


Joins = Annotated[int, typer.Option(min=1, help="New people within an hour by the link to join.")]
JoinsPerAddress = Annotated[
    int, typer.Option(min=1, help="Of these, from one address: a class behind one router has one.")
]
BehindProxy = Annotated[
    bool,
    typer.Option(
        "--behind-proxy", help="Take addresses from the X-Forwarded-For of the proxy in front of this server."
    ),
]


def opened(database: str, *, create: bool = False) -> Store:
    """The database of studies."""
    try:
        from ...studies.storage import Store

        return Store(database, create=create)
    except ImportError as error:
        raise StudyError(f"studies need an extra: pip install 't2onet[study]' ({error})") from None


def serve(store: Store, study: int, limits: JoinLimits, host: str, port: int, url: str | None) -> None:
    """Print the links and answer until stopped."""
    from ...server.running import address, end_busy_threads, listen, run
    from ...server.study import create_study_app
    from ...studies.joining import JoinLimiter

    token = secrets.token_urlsafe(24)
    with listen(host, port) as listening:
        base = (url or address(listening)).rstrip("/")
        with suppress(KeyboardInterrupt):
            app = create_study_app(store, study, token, JoinLimiter(limits))
            run(app, listening, lambda: _announce(store, study, base, token))
    say("stopped; everything that was acknowledged is kept")
    end_busy_threads()


def _announce(store: Store, study: int, base: str, token: str) -> None:
    from ...server.tokens import encode_token
    from ...studies.review import progress

    about = progress(store, study)
    say(f"{about.kind} study {about.study!r}: {about.answers} of {about.wanted} answers", err=False)
    say(f"kept in:    {store}", err=False)
    say(f"to join:    {base}/join/{about.token}", err=False)
    say(f"for you:    {base}/owner#{encode_token(token)}", err=False)
    say("Ctrl-C stops the server; links to the study stay good, yours is a new one each time", err=False)
