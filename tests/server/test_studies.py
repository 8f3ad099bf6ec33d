"""A study over HTTP: what raters, annotators and the owner can do, and what nobody else can."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import PIL.Image
import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import OperationalError

from t2onet.server.settings import MIB
from t2onet.server.study import STATIC, STUDY_SETTINGS, create_study_app
from t2onet.studies import people
from t2onet.studies.creating import open_rating_study
from t2onet.studies.database import AnnotationSettings, RatingSettings, StudyDatabase
from t2onet.studies.people import JoinLimiter, JoinLimits
from t2onet.studies.review import list_requests
from tests.studies.helpers import annotation_study, fair, link, rating_study, table, what, write_through

API = "/api/v1/study"
OWNER = {"Authorization": "Bearer the-owner"}
AS_JSON = {"Content-Type": "application/json"}


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[StudyDatabase]:
    with StudyDatabase(tmp_path / "studies.db") as store:
        yield store


def client(store: StudyDatabase, study: int, limits: JoinLimits | None = None) -> TestClient:
    limiter = None if limits is None else JoinLimiter(limits)
    return TestClient(create_study_app(store, study, "the-owner", limiter))


@pytest.fixture
def rating(sqlite_store: StudyDatabase, tmp_path: Path) -> TestClient:
    """The server of a rating study of three samples."""
    return client(sqlite_store, rating_study(sqlite_store, tmp_path, 3, RatingSettings()))


@pytest.fixture
def annotating(sqlite_store: StudyDatabase, tmp_path: Path) -> TestClient:
    """The server of an annotation study of three pairs, one of them to begin with."""
    settings = AnnotationSettings(requests=1, qualification=1)
    return client(sqlite_store, annotation_study(sqlite_store, tmp_path, 3, settings, said=1))


def join_study(web: TestClient, store: StudyDatabase, name: str = "") -> str:
    answer = web.post(f"{API}/join/{link(store, 1)}", json={"name": name})
    assert answer.status_code == 201
    return str(answer.json()["person"])


def next_page(web: TestClient, person: str) -> dict[str, Any]:
    answer = web.post(f"{API}/people/{person}/next")
    assert answer.status_code == 200
    return dict(answer.json())


@pytest.mark.slow
def test_a_rater_from_the_link_to_the_results(rating: TestClient, sqlite_store: StudyDatabase) -> None:
    person = join_study(rating, sqlite_store, "Zoë")
    assert rating.get(f"{API}/people/{person}").json() == {
        **{"study": "table", "kind": "rating", "name": "Zoë", "state": "accepted"},
    }
    seen = 0
    while (page := next_page(rating, person)["page"]) is not None:
        shown = rating.get(f"{API}/pages/{page['page']}/input.jpg")
        assert shown.headers["content-type"] == "image/jpeg"
        assert PIL.Image.open(io.BytesIO(shown.content)).size == (16, 12)
        assert all(rating.get(f"{API}/ratings/{token}.jpg").status_code == 200 for token in page["pictures"])
        stars = {token: fair(*what(sqlite_store, token)) for token in page["pictures"]}
        answer = rating.put(f"{API}/people/{person}/pages/{page['page']}/stars", json={"stars": stars})
        assert (answer.status_code, answer.content) == (204, b"")
        seen += 1
    assert seen == 3 + 1 + 1
    found = rating.get(f"{API}/owner/results", headers=OWNER).json()["results"]
    assert [(mean["system"], mean["mean"]) for mean in found["means"]] == [
        ("target", 5),
        ("ours", 4),
        ("gan", 2),
    ]
    exported = rating.get(f"{API}/owner/export.csv", headers=OWNER)
    assert len(list(csv.DictReader(io.StringIO(exported.text)))) == 3 * seen
    assert rating.get(f"{API}/owner/progress", headers=OWNER).json()["answers"] == 3


@pytest.mark.slow
def test_nothing_a_rater_can_read_names_a_system(sqlite_store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(
        sqlite_store, tmp_path, 2, RatingSettings(checks=0.5), ("target", "systemx", "systemy")
    )
    web = client(sqlite_store, study)
    person = join_study(web, sqlite_store)
    heard = []
    while True:
        answers = [web.post(f"{API}/people/{person}/next"), web.get(f"{API}/people/{person}")]
        page = answers[0].json()["page"]
        if page is None:
            break
        answers += [web.get(f"{API}/pages/{page['page']}/input.jpg")]
        answers += [web.get(f"{API}/ratings/{token}.jpg") for token in page["pictures"]]
        stars = dict.fromkeys(page["pictures"], 3)
        answers += [web.put(f"{API}/people/{person}/pages/{page['page']}/stars", json={"stars": stars})]
        heard += [str(answer.headers).encode() + answer.content for answer in answers]
    everything = b"".join(heard).lower()
    for word in (b"system", b"target", b"wrecked", b"check", b"repeat", str(tmp_path).encode().lower()):
        assert word not in everything


def test_an_annotator_from_the_link_to_the_table(annotating: TestClient, sqlite_store: StudyDatabase) -> None:
    person = join_study(annotating, sqlite_store)
    first = next_page(annotating, person)
    assert first["page"]["qualifying"] is True
    for side in ("input", "target"):
        assert annotating.get(f"{API}/pages/{first['page']['page']}/{side}.jpg").status_code == 200
    request = f"{API}/people/{person}/pages/{first['page']['page']}/request"
    assert annotating.put(request, json={"text": "warmer & <b>brighter</b>"}).status_code == 204
    waiting = next_page(annotating, person)
    assert (waiting["page"], waiting["state"]) == (None, "waiting")
    (written,) = annotating.get(f"{API}/owner/requests", headers=OWNER).json()
    assert (written["text"], written["said"]) == (
        "warmer & <b>brighter</b>",
        ["make number 0 brighter, please"],
    )
    verdict = {"review": "accepted", "note": "good"}
    assert annotating.put(f"{API}/owner/requests/1/review", json=verdict, headers=OWNER).status_code == 204
    state = {"state": "accepted"}
    assert annotating.put(f"{API}/owner/people/1/state", json=state, headers=OWNER).status_code == 204
    assert next_page(annotating, person)["page"]["qualifying"] is False
    rows = list(csv.DictReader(io.StringIO(annotating.get(f"{API}/owner/export.csv", headers=OWNER).text)))
    assert [(row["request"], row["review"]) for row in rows] == [("warmer & <b>brighter</b>", "accepted")]


def test_a_blocked_annotator_is_told_so(annotating: TestClient, sqlite_store: StudyDatabase) -> None:
    person = join_study(annotating, sqlite_store)
    blocked = {"state": "blocked"}
    assert annotating.put(f"{API}/owner/people/1/state", json=blocked, headers=OWNER).status_code == 204
    answer = annotating.post(f"{API}/people/{person}/next")
    assert answer.status_code == 403
    assert answer.json()["error"]["kind"] == "forbidden"


OWNERS = [
    ("GET", "progress", None),
    ("POST", "people", {"name": "x"}),
    ("PUT", "people/1/state", {"state": "blocked"}),
    ("DELETE", "people/1", None),
    ("POST", "people/free", {"idle_minutes": 0}),
    ("GET", "requests", None),
    ("PUT", "requests/1/review", {"review": "accepted"}),
    ("GET", "results", None),
    ("GET", "export.csv", None),
]


@pytest.mark.parametrize(("method", "path", "body"), OWNERS)
@pytest.mark.parametrize(
    "header", [None, "Bearer ", "Bearer wrong", "the-owne", "Bearer the-owner x", "Bearer \xff"]
)
def test_the_owners_side_is_closed_to_others(
    rating: TestClient, method: str, path: str, body: object, header: str | None
) -> None:
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    answer = rating.request(method, f"{API}/owner/{path}", json=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "forbidden")


@pytest.mark.parametrize("token", ["a b&c#d%41", "пароль для всех", "größer als"])
def test_the_owners_token_may_be_any(sqlite_store: StudyDatabase, tmp_path: Path, token: str) -> None:
    study = rating_study(sqlite_store, tmp_path, 3, RatingSettings())
    web = TestClient(create_study_app(sqlite_store, study, token))
    for sent, status in (
        (quote(token, safe="").encode(), 200),  # as the page has it from the address
        (token.encode(), 200),
        (token.encode()[:-1], 403),
        (b"", 403),
    ):
        headers = {"Authorization": b"Bearer " + sent}
        answer = web.get(f"{API}/owner/progress", headers=headers)  # type: ignore[arg-type]
        assert answer.status_code == status


def test_every_call_of_the_owner_is_in_the_list_above(rating: TestClient) -> None:
    """So that a new one cannot be open by mistake."""
    described = rating.get("/api/v1/openapi.json").json()["paths"]
    owners = [path for path in described if "/owner/" in path]
    assert len(owners) == len(OWNERS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "body", "answered"),
    [
        ("POST join/wrong", {"name": "x"}, (404, "not_found")),
        ("GET people/wrong", None, (404, "not_found")),
        ("POST people/wrong/next", None, (404, "not_found")),
        ("PUT people/{person}/pages/wrong/stars", {"stars": {}}, (404, "not_found")),
        ("PUT people/{person}/pages/{page}/stars", {"stars": {}}, (422, "study")),
        ("PUT people/{person}/pages/{page}/stars", {"stars": {"a": "3"}}, (422, "invalid")),
        ("PUT people/{person}/pages/{page}/stars", {"stars": {"a": 3.5}}, (422, "invalid")),
        ("PUT people/{person}/pages/{page}/stars", [], (422, "invalid")),
        ("PUT people/{person}/pages/{page}/stars", {"stars": {}, "more": 1}, (422, "invalid")),
        ("PUT people/{person}/pages/{page}/request", {"text": ""}, (422, "study")),
        ("GET ratings/wrong.jpg", None, (404, "not_found")),
        ("GET pages/{page}/target.jpg", None, (404, "not_found")),
        ("GET pages/{page}/other.jpg", None, (422, "invalid")),
        ("GET nothing", None, (404, "not_found")),
        ("DELETE people/{person}", None, (405, "method_not_allowed")),
    ],
)
def test_refusals_have_a_kind_and_a_sentence(
    rating: TestClient, sqlite_store: StudyDatabase, call: str, body: object, answered: tuple[int, str]
) -> None:
    person = join_study(rating, sqlite_store)
    page = next_page(rating, person)["page"]["page"]
    method, path = call.format(person=person, page=page).split()
    answer = rating.request(method, f"{API}/{path}", json=body)
    assert (answer.status_code, answer.json()["error"]["kind"]) == answered
    assert answer.json()["error"]["message"]


def test_a_request_for_a_page_of_stars_changes_nothing(
    rating: TestClient, sqlite_store: StudyDatabase
) -> None:
    person = join_study(rating, sqlite_store)
    page = next_page(rating, person)["page"]["page"]
    answer = rating.put(f"{API}/people/{person}/pages/{page}/request", json={"text": "make it warmer"})
    assert answer.status_code == 404
    assert next_page(rating, person)["page"]["page"] == page


def test_a_database_that_fails_is_not_taken_for_an_answer(
    rating: TestClient, sqlite_store: StudyDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = join_study(rating, sqlite_store)

    def fail(*_: object) -> None:
        raise OperationalError("INSERT secret", {}, Exception("secret"))

    monkeypatch.setattr("t2onet.server.study.save_ratings", fail)
    answer = rating.put(f"{API}/people/{person}/pages/x/stars", json={"stars": {}})
    assert answer.status_code == 503
    assert "secret" not in answer.text


def test_a_picture_that_cannot_be_read_gives_no_path_away(
    rating: TestClient, sqlite_store: StudyDatabase, tmp_path: Path
) -> None:
    page = next_page(rating, join_study(rating, sqlite_store))["page"]
    for path in tmp_path.rglob("*.png"):
        path.write_bytes(b"no photo")
    answer = rating.get(f"{API}/pages/{page['page']}/input.jpg")
    assert answer.status_code == 404
    assert str(tmp_path) not in answer.text


@pytest.mark.parametrize(
    "path", ["/owner", "/join/x", "/study/x", f"{API}/people/x", "/static/study/study.css"]
)
def test_every_answer_is_guarded(rating: TestClient, path: str) -> None:
    headers = rating.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")


@pytest.mark.slow
def test_a_study_answers_under_any_name_but_to_no_other_page(
    rating: TestClient, sqlite_store: StudyDatabase
) -> None:
    path = f"{API}/join/{link(sqlite_store, 1)}"
    behind_a_proxy = {"Host": "10.0.0.7", "Origin": "https://study.example", "Sec-Fetch-Site": "same-origin"}
    assert rating.post(path, json={}, headers=behind_a_proxy).status_code == 201
    for elsewhere in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert rating.post(path, json={}, headers=elsewhere).status_code == 403
    assert len(rating.get(f"{API}/owner/progress", headers=OWNER).json()["people"]) == 1


PAGES = sorted(STATIC.iterdir())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_need_nothing_from_elsewhere_and_nothing_inline(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|//[a-z]+\.", text)
    if path.suffix == ".html":
        assert not re.search(r"<script(?! type=\"module\" src=\"/static/)|<style|\sstyle=|\son\w+=", text)
        for linked in re.findall(r'(?:src|href)="([^"]+)"', text):
            assert (STATIC / Path(linked).name).is_file()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)


def test_the_pages_are_small() -> None:
    assert sum(path.stat().st_size for path in PAGES) < 50_000


@pytest.mark.parametrize("declared", [True, False])
def test_large_bodies_are_refused(rating: TestClient, sqlite_store: StudyDatabase, declared: bool) -> None:
    whole = json.dumps({"name": "x" * MIB * STUDY_SETTINGS.json_mb}).encode()
    pieces = (whole[at : at + 9999] for at in range(0, len(whole), 9999))
    answer = rating.post(
        f"{API}/join/{link(sqlite_store, 1)}", content=whole if declared else pieces, headers=AS_JSON
    )
    assert answer.status_code == 413


def test_the_owner_invites(rating: TestClient, sqlite_store: StudyDatabase) -> None:
    answer = rating.post(f"{API}/owner/people", json={"name": "Ann"}, headers=OWNER)
    (person,) = rating.get(f"{API}/owner/progress", headers=OWNER).json()["people"]
    assert (person["name"], person["link"]) == ("Ann", answer.json()["person"])
    again = rating.post(f"{API}/owner/people", json={"name": "Ann"}, headers=OWNER)
    assert (again.status_code, again.json()["error"]["kind"]) == (409, "conflict")


@pytest.mark.slow
def test_a_script_cannot_fill_a_study(rating: TestClient, sqlite_store: StudyDatabase) -> None:
    path = f"{API}/join/{link(sqlite_store, 1)}"
    answers = [rating.post(path, json={}) for _ in range(JoinLimits().joins_per_address + 3)]
    codes = [answer.status_code for answer in answers]
    assert codes == [201] * JoinLimits().joins_per_address + [429] * 3
    refusal = answers[-1]
    assert refusal.json()["error"]["kind"] == "too_many"
    assert "try again in 60 minutes" in refusal.json()["error"]["message"]
    assert 0 < int(refusal.headers["retry-after"]) == refusal.json()["retry_after"] <= 3600
    assert len(rating.get(f"{API}/owner/progress", headers=OWNER).json()["people"]) == codes.count(201)
    invited = rating.post(f"{API}/owner/people", json={"name": "Ann"}, headers=OWNER)
    assert invited.status_code == 201, "the owner may always invite"


@pytest.mark.parametrize(
    ("behind_proxy", "codes"), [(True, [201, 201, 429, 201]), (False, [201, 429, 429, 429])]
)
def test_a_proxy_is_believed_only_where_there_is_one(
    sqlite_store: StudyDatabase, tmp_path: Path, behind_proxy: bool, codes: list[int]
) -> None:
    """The last address is what the proxy has seen; what a visitor claims stands before it."""
    limits = JoinLimits(joins_per_address=1, behind_proxy=behind_proxy)
    web = client(sqlite_store, rating_study(sqlite_store, tmp_path, 1), limits)
    forwarded = ("203.0.113.1", "203.0.113.2", "198.51.100.9, 203.0.113.2", "203.0.113.2, 203.0.113.3")
    path = f"{API}/join/{link(sqlite_store, 1)}"
    answers = [web.post(path, json={}, headers={"X-Forwarded-For": one}) for one in forwarded]
    assert [answer.status_code for answer in answers] == codes


def test_a_name_that_is_refused_uses_up_no_join(sqlite_store: StudyDatabase, tmp_path: Path) -> None:
    web = client(sqlite_store, rating_study(sqlite_store, tmp_path, 1), JoinLimits(joins_per_address=1))
    path = f"{API}/join/{link(sqlite_store, 1)}"
    assert [web.post(path, json={"name": name}).status_code for name in ("=1", "Ann", "Ben")] == [
        422,
        201,
        429,
    ]


def test_the_owner_frees_places(rating: TestClient, sqlite_store: StudyDatabase) -> None:
    began, silent, other = (join_study(rating, sqlite_store, name) for name in ("began", "silent", "other"))
    page = next_page(rating, began)["page"]
    stars = {"stars": dict.fromkeys(page["pictures"], 3)}
    assert rating.put(f"{API}/people/{began}/pages/{page['page']}/stars", json=stars).status_code == 204
    about = rating.get(f"{API}/owner/progress", headers=OWNER).json()
    assert (about["places"], about["taken"], about["unused"]) == (1000, 3, 2)
    numbers = {person["name"]: person["id"] for person in about["people"]}
    assert rating.delete(f"{API}/owner/people/{numbers['silent']}", headers=OWNER).status_code == 204
    assert rating.get(f"{API}/people/{silent}").status_code == 404
    kept_back = rating.delete(f"{API}/owner/people/{numbers['began']}", headers=OWNER)
    assert (kept_back.status_code, kept_back.json()["error"]["kind"]) == (409, "conflict")
    free = f"{API}/owner/people/free"
    assert rating.post(free, json={}, headers=OWNER).json() == {"freed": 0}, "they have just joined"
    assert rating.post(free, json={"idle_minutes": 0}, headers=OWNER).json() == {"freed": 1}
    assert rating.get(f"{API}/people/{other}").status_code == 404
    about = rating.get(f"{API}/owner/progress", headers=OWNER).json()
    assert [(person["name"], person["pages"]) for person in about["people"]] == [("began", 1)]


@pytest.mark.parametrize("wrong", [{"idle_minutes": -1}, {"idle_minutes": "x"}, {"idle": 5}, []])
def test_how_long_someone_was_idle_is_a_number(rating: TestClient, wrong: object) -> None:
    assert rating.post(f"{API}/owner/people/free", json=wrong, headers=OWNER).status_code == 422


def test_people_of_another_study_are_none_of_the_owners_business(
    sqlite_store: StudyDatabase, tmp_path: Path
) -> None:
    study = rating_study(sqlite_store, tmp_path, 1)
    other = open_rating_study(sqlite_store, table(tmp_path, 1), RatingSettings(), name="other")
    people.add_person(sqlite_store, other, "theirs")
    web = client(sqlite_store, study)
    assert web.get(f"{API}/owner/progress", headers=OWNER).json()["people"] == []
    answer = web.put(f"{API}/owner/people/1/state", json={"state": "blocked"}, headers=OWNER)
    assert answer.status_code == 404


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
PATHS = st.sampled_from(
    [
        *("join/{text}", "people/{text}", "people/{text}/next", "people/{person}/next"),
        *("people/{person}/pages/{page}/stars", "people/{person}/pages/{text}/stars"),
        *("people/{person}/pages/{page}/request", "ratings/{text}.jpg", "pages/{text}/input.jpg"),
        *(
            "owner/people/{text}/state",
            "owner/people/{text}",
            "owner/people/free",
            "owner/requests/{text}/review",
            "owner/people",
            "owner/requests?after={text}",
        ),
    ]
)


@pytest.mark.slow
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_sent_nothing_breaks(
    review_study: tuple[TestClient, StudyDatabase], data: st.DataObject
) -> None:
    web, store = review_study
    person = people.join_study(store, link(store, 1)) if data.draw(st.booleans()) else "nobody"
    text = quote(data.draw(st.text(max_size=20) | st.just("\0") | st.integers().map(str)), safe="")
    given = None if person == "nobody" else next_page(web, person)["page"]
    path = data.draw(PATHS).format(text=text, person=person, page=given["page"] if given else "x")
    fields = st.sampled_from(["stars", "text", "name", "note"])
    wanted = JSON | st.dictionaries(fields, JSON | st.just("a\0b"), max_size=2)
    wanted |= st.fixed_dictionaries({"review": st.just("accepted"), "note": st.text()})
    body = data.draw(st.binary(max_size=30) | wanted.map(lambda value: json.dumps(value).encode()))
    method = data.draw(st.sampled_from(["GET", "POST", "PUT"]))
    answer = web.request(method, f"{API}/{path}", content=body, headers={**OWNER, **AS_JSON})
    assert answer.status_code < 500


@pytest.fixture
def review_study(store: StudyDatabase, tmp_path: Path) -> tuple[TestClient, StudyDatabase]:
    """A study with a request in it that can be reviewed, in a database of either kind."""
    study = annotation_study(store, tmp_path, 3, AnnotationSettings(qualification=0))
    write_through(store, people.add_person(store, study, "a"))
    return client(store, study), store


@pytest.mark.slow
@pytest.mark.parametrize("text", ["\0", "9" * 30, "-1", "x" * 50, "é", "a b"])
def test_addresses_that_no_database_could_hold(
    review_study: tuple[TestClient, StudyDatabase], text: str
) -> None:
    web, _ = review_study
    there = quote(text, safe="")
    for method, path in (
        ("GET", f"{API}/people/{there}"),
        ("GET", f"{API}/ratings/{there}.jpg"),
        ("PUT", f"{API}/owner/people/{there}/state"),
        ("GET", f"{API}/owner/requests?after={there}"),
        ("GET", f"/study/{there}"),
    ):
        answer = web.request(method, path, headers=OWNER, json={"state": "blocked"})
        assert answer.status_code in (404, 422)


def test_notes_are_kept_as_text(review_study: tuple[TestClient, StudyDatabase]) -> None:
    web, store = review_study
    verdict = {"review": "rejected", "note": "no\0\n good"}
    assert web.put(f"{API}/owner/requests/1/review", json=verdict, headers=OWNER).status_code == 204
    assert list_requests(store, 1)[0].note == "no good"
