"""A server of its own for each test, which answers requests as the package does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from t2onet.server import ServerSettings, create_app
from tests.server.browser import browser, monitored_page
from tests.server.helpers import Visitor, picture
from tests.server.live import photo_file, table

__all__ = ["browser", "monitored_page", "table"]

Serve = Callable[..., Visitor]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """`serve(sessions=2)`: a visitor with a session on a new server with such limits."""
    with ExitStack() as stack:

        def begin(*, begun: bool = True, **limits: Any) -> Visitor:
            settings = replace(ServerSettings(folder=tmp_path / "server"), **limits)
            client = TestClient(create_app(settings), base_url="http://127.0.0.1:8642")
            stack.enter_context(client)
            visitor = Visitor(client)
            if begun:
                visitor.begin()
            return visitor

        yield begin


@pytest.fixture
def visitor(serve: Serve) -> Visitor:
    """Someone with a session, and nothing in it."""
    return serve()


@pytest.fixture
def photo(visitor: Visitor) -> str:
    """The address of a photo that the visitor brought."""
    return visitor.bring(picture())


@pytest.fixture
def sea(tmp_path: Path) -> Path:
    """A photo in a file."""
    return photo_file(tmp_path / "sea.png")
