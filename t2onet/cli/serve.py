"""`t2o serve`: the web darkroom on this machine."""

from __future__ import annotations

import secrets
import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ImageError
from ..options import DEFAULT_READER
from .apply import set_max_megapixels
from .common import ReaderOption, RecursiveOption, exit_on_error, exit_with_error, print_line
from .photos import list_photos


@exit_on_error
def serve_darkroom(
    photos: Annotated[
        list[str] | None,
        typer.Argument(metavar="PHOTO", help="Photos, folders or patterns to open."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but a local one requires a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port; by default 8642, or a free one if that is taken."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(help="Token that clients must send; generated if one is required and not given."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    recursive: RecursiveOption = False,
    reader: ReaderOption = DEFAULT_READER,
    folder: Annotated[
        str | None,
        typer.Option(
            metavar="<path>",
            help="Folder for results, and uploads that are not kept, while the server runs; by default a "
            "temporary one.",
        ),
    ] = None,
    sidecar: Annotated[
        bool,
        typer.Option(
            "--sidecar/--no-sidecar",
            help="Read and write the edit of each PHOTO beside it, as PHOTO.t2o.json.",
        ),
    ] = True,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep/--no-keep",
            help="Keep uploads, edits and looks in the data folder (T2O_DATA_DIR) for the next start.",
        ),
    ] = True,
    keep_days: Annotated[
        float, typer.Option(min=0.01, help="Days after its last edit after which a kept session is deleted.")
    ] = 14.0,
    keep_mb: Annotated[
        int, typer.Option(min=1, help="All kept sessions, in MiB; the oldest are deleted.")
    ] = 4096,
    max_megapixels: Annotated[float, typer.Option(help="Refuse larger photos.")] = 100.0,
    upload_mb: Annotated[int, typer.Option(min=1, help="Refuse larger files, in MiB.")] = 128,
    session_mb: Annotated[
        int, typer.Option(min=1, help="Uploads and results of one session, in MiB.")
    ] = 2048,
    sessions: Annotated[int, typer.Option(min=1, help="Sessions at a time.")] = 50,
    idle_minutes: Annotated[
        float,
        typer.Option(min=1, help="Idle time after which a session is closed; without --keep it is deleted."),
    ] = 120.0,
    cache_mb: Annotated[int, typer.Option(min=64, help="Memory for previews, in MiB.")] = 512,
) -> None:
    """Open the darkroom in the browser. Photos stay on this machine; Ctrl-C stops the server."""
    set_max_megapixels(max_megapixels)
    if folder == "":  # as a path it would be the current folder
        exit_with_error("--folder is empty; give a folder, or leave it out for a temporary one")
    found = _check_photos(list_photos(photos, recursive=recursive)) if photos else []
    from ..server import ServerSettings, create_app
    from ..server.folders import get_data_folder
    from ..server.running import bind_socket, build_server_url, end_busy_threads, run_server
    from ..server.settings import LOCAL_HOSTS

    if token is None and host not in LOCAL_HOSTS:
        token = secrets.token_urlsafe(16)
    settings = ServerSettings(
        token=token,
        reader=reader,
        folder=None if folder is None else Path(folder),
        megapixels=max_megapixels,
        upload_mb=upload_mb,
        session_mb=session_mb,
        sessions=sessions,
        idle_minutes=idle_minutes,
        cache_mb=cache_mb,
        sidecars=sidecar,
        keep=get_data_folder() if keep else None,
        keep_days=keep_days,
        keep_mb=keep_mb,
    )
    app = create_app(settings)
    darkroom = app.state.darkroom
    try:
        darkroom.sessions.open()
        with bind_socket(host, port) as listening:
            given = [str(Path(one).absolute()) for one in photos or ()]
            session = darkroom.preload(found, [*given, *["--recursive"] * recursive]) if found else None
            url = build_server_url(listening, token, f"session={session.id}" if session else "")
            with suppress(KeyboardInterrupt):
                run_server(app, listening, lambda: _announce_url(url, browser), settings)
    finally:
        darkroom.sessions.close_all()
    print_line("stopped", err=False)
    end_busy_threads()


def _check_photos(photos: list[Path]) -> list[Path]:
    """Check before the server starts that all photos are files."""
    from ..image import check_regular_file

    for path in photos:
        try:
            check_regular_file(path)
        except OSError as error:
            raise ImageError(f"{path} cannot be read ({error.strerror}); give photos or folders") from None
    return photos


def _announce_url(url: str, browser: bool) -> None:
    import webbrowser

    print_line(f"The darkroom is at {url} (Ctrl-C stops it)", err=False)
    if browser:
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
