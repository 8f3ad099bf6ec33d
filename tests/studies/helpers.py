"""Tables, pictures and people made for the tests of studies."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import PIL.Image

from t2onet.studies import people
from t2onet.studies.creating import open_annotation_study, open_rating_study
from t2onet.studies.database import AnnotationSettings, Output, Rating, RatingSettings, Study, StudyDatabase
from t2onet.studies.pages import (
    AnnotationPage,
    RatingPage,
    next_annotation_page,
    next_rating_page,
    save_ratings,
    save_request,
)

SYSTEMS = ("target", "ours", "gan")
ALL = RatingSettings(checks=0, repeats=0)
"""Each sample twice, and nothing else."""


def picture(path: Path, seed: int = 0, size: tuple[int, int] = (12, 16)) -> Path:
    """Noise in coarse squares, height x width."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)
    PIL.Image.fromarray(pixels).save(path)
    return path


def table(
    folder: Path, count: int, systems: Sequence[str] = SYSTEMS, datasets: Sequence[str] = ("",)
) -> Path:
    """`count` samples for each data set, with real pictures."""
    path = folder / "table.csv"
    rows = []
    for dataset in datasets:
        for number in range(count):
            name = f"{dataset}{number:03}"
            files = [f"{system}/{name}.png" for system in ("in", *systems)]
            for seed, file in enumerate(files):
                picture(folder / file, 100 * number + seed)
            rows.append([name, files[0], f"make {name} brighter", dataset, *files[1:]])
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["sample", "input", "request", "dataset", *systems], *rows])
    return path


def rating_study(
    store: StudyDatabase,
    folder: Path,
    count: int,
    settings: RatingSettings = ALL,
    systems: Sequence[str] = SYSTEMS,
) -> int:
    return open_rating_study(store, table(folder, count, systems), settings)


def raters(store: StudyDatabase, study: int, count: int) -> list[str]:
    """Links of that many new people."""
    return [people.add_person(store, study, f"rater {number}") for number in range(1, count + 1)]


def link(store: StudyDatabase, study: int) -> str:
    """The study's own token."""
    with store.reading() as session:
        return session.get_one(Study, study).token


def what(store: StudyDatabase, token: str) -> tuple[str | None, str | None]:
    """The system behind a rating, and what is known of it."""
    with store.reading() as session:
        rating = session.query(Rating).filter_by(token=token).one()
        output = None if rating.output_id is None else session.get_one(Output, rating.output_id)
        return None if output is None else output.system, rating.known


Taste = Callable[[str | None, str | None], int]
"""Stars for a system, or for a picture that is known."""


def fair(system: str | None, known: str | None) -> int:
    """Someone who looks."""
    if known is not None:
        return {"wrecked": 1, "input": 2, "target": 5}[known]
    return {"target": 5, "ours": 4}.get(system or "", 2)


def answer(store: StudyDatabase, token: str, page: RatingPage, taste: Taste = fair) -> None:
    save_ratings(
        store, token, page.page, {picture: taste(*what(store, picture)) for picture in page.pictures}
    )


def work_through(store: StudyDatabase, token: str, taste: Taste = fair) -> list[RatingPage]:
    """Rate until nothing is left; the pages that were seen."""
    pages = []
    while (page := next_rating_page(store, token)) is not None:
        answer(store, token, page, taste)
        pages.append(page)
    return pages


def pairs_folder(folder: Path, count: int, said: int = 0) -> Path:
    """`count` pairs as files, with requests for the first `said` of them."""
    for number in range(count):
        for seed, side in enumerate(("before", "after")):
            picture(folder / side / f"pair {number}.png", 10 * number + seed)
    lines = [f'pair {number},"make number {number} brighter, please",val\n' for number in range(said)]
    (folder / "requests.csv").write_text("name,request,split\n" + "".join(lines), encoding="utf-8")
    return folder


def annotation_study(
    store: StudyDatabase, folder: Path, count: int, settings: AnnotationSettings, said: int = 0
) -> int:
    return open_annotation_study(store, pairs_folder(folder, count, said), settings)


def write_through(store: StudyDatabase, token: str, word: str = "brighter") -> list[AnnotationPage]:
    """Write requests until there is no page; the pages that were seen."""
    pages = []
    while (page := next_annotation_page(store, token)) is not None:
        save_request(store, token, page.page, f"make it {word}, {len(pages)}")
        pages.append(page)
    return pages
