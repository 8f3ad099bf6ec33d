"""A server that is killed while people rate: whatever it had acknowledged is in the database."""

from __future__ import annotations

import random
import signal
import sys
import threading
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa

from t2onet.studies.database import CollectedRequest, Page, Rating, StudyDatabase
from tests.conftest import PATIENCE
from tests.studies.helpers import pairs_folder, table
from tests.studies.served import Served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL there"),
]
CLIENTS = 6
BEFORE = 60
"""Pages that are acknowledged before the server is killed."""


class Load:
    """Clients that answer pages until the server is gone, and note what was acknowledged."""

    def __init__(self, served: Served) -> None:
        self.api = f"{served.base}/api/v1/study"
        self.token = served.token
        self.acknowledged: dict[str, dict[str, int] | str] = {}
        self.lock, self.enough = threading.Lock(), threading.Event()
        self.cut_off = 0
        self.threads = [threading.Thread(target=self._client, args=(number,)) for number in range(CLIENTS)]

    def run_until_killed(self, served: Served) -> None:
        for thread in self.threads:
            thread.start()
        assert self.enough.wait(PATIENCE)
        served.stop(signal.SIGKILL)
        for thread in self.threads:
            thread.join()

    def _client(self, number: int) -> None:
        with httpx2.Client(timeout=PATIENCE) as client:
            try:
                person = client.post(f"{self.api}/join/{self.token}", json={}).json()["person"]
                while page := client.post(f"{self.api}/people/{person}/next").json()["page"]:
                    self._answer(client, person, page, random.Random(f"{number}/{page['page']}"))
            except httpx2.TransportError:
                self.cut_off += 1

    def _answer(
        self, client: httpx2.Client, person: str, page: dict[str, object], chance: random.Random
    ) -> None:
        address = f"{self.api}/people/{person}/pages/{page['page']}"
        said: dict[str, int] | str
        if "pictures" in page:
            said = {token: chance.randint(1, 5) for token in page["pictures"]}  # type: ignore[attr-defined]
            answer = client.put(f"{address}/stars", json={"stars": said})
        else:
            said = f"make it {chance.random()} brighter"
            answer = client.put(f"{address}/request", json={"text": said})
        assert answer.status_code == 204, answer.text
        with self.lock:
            self.acknowledged[str(page["page"])] = said
            if len(self.acknowledged) >= BEFORE:
                self.enough.set()


def test_no_acknowledged_rating_is_lost(database: str, tmp_path: Path) -> None:
    arguments = ("rate", table(tmp_path, 80), "--ratings", CLIENTS)
    with Served(*arguments, database=database) as served:
        load = Load(served)
        load.run_until_killed(served)
    assert load.cut_off == CLIENTS, "the server was killed under load"
    with StudyDatabase(database) as store, store.reading() as session:
        kept = session.execute(sa.select(Page.token, Rating.token, Rating.stars).join(Page)).all()
        answered = set(session.scalars(sa.select(Page.token).where(Page.answered.is_not(None))))
    stars: dict[str, dict[str, int | None]] = {}
    for page, token, given in kept:
        stars.setdefault(page, {})[token] = given
    assert {page: stars[page] for page in load.acknowledged} == load.acknowledged
    assert set(load.acknowledged) <= answered
    for page, given in stars.items():
        assert (None in given.values()) == (page not in answered), "a page is kept whole or not at all"
    with Served(*arguments, database=database) as again:
        assert again.token == served.token


def test_no_acknowledged_request_is_lost(database: str, tmp_path: Path) -> None:
    arguments = (
        "annotate",
        pairs_folder(tmp_path / "pairs", 80),
        "--requests",
        CLIENTS,
        "--qualification",
        0,
    )
    with Served(*arguments, database=database) as served:
        load = Load(served)
        load.run_until_killed(served)
    assert load.cut_off == CLIENTS
    with StudyDatabase(database) as store, store.reading() as session:
        kept = dict(map(tuple, session.execute(sa.select(Page.token, CollectedRequest.text).join(Page))))
    assert {page: kept[page] for page in load.acknowledged} == load.acknowledged
