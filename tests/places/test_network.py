"""The network in the package: one run for a picture, and what it says of photos whose content is known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from t2onet.errors import PlaceError
from t2onet.places import find_place, list_present, named, network
from t2onet.places.network import CHANNELS, FoundPlaces, choose_size
from t2onet.recipe import where
from tests.places.helpers import resolve


class CountingNetwork:
    """Sees sky in the upper half of every picture, and nothing else."""

    def __init__(self) -> None:
        self.runs = 0

    def find(self, picture: np.ndarray) -> FoundPlaces:
        self.runs += 1
        masks = np.zeros((len(CHANNELS), 8, 8), np.float32)
        masks[0, :4] = 1
        return FoundPlaces(masks, masks.max((1, 2)))


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[CountingNetwork]:
    fake = CountingNetwork()
    monkeypatch.setattr(network, "load_network", lambda: fake)
    network._answers.clear()
    yield fake
    network._answers.clear()


@pytest.mark.parametrize(
    ("shape", "seen"),
    [((400, 600), (160, 256)), ((600, 400), (256, 160)), ((256, 256), (256, 256)), ((10, 1000), (64, 256))],
)
def test_pictures_are_seen_about_in_proportion(shape: tuple[int, int], seen: tuple[int, int]) -> None:
    assert choose_size(*shape) == seen


def test_all_places_of_a_photo_take_one_run(counting: CountingNetwork) -> None:
    photo = np.full((40, 60, 3), 0.5, np.float32)
    resolve("sky", photo)
    resolve("top except person", photo)
    resolve("not (sky or face)", photo)
    assert counting.runs == 1
    resolve("sky", photo / 2)
    assert counting.runs == 2


def test_the_answers_of_the_last_pictures_alone_are_kept(counting: CountingNetwork) -> None:
    for level in range(40):
        network.find_all(np.full((3, 4, 4), level / 40, np.float32))
    assert len(network._answers) == network._REMEMBERED
    network.find_all(np.full((3, 4, 4), 39 / 40, np.float32))
    assert counting.runs == 40


def test_a_place_that_is_not_there_is_said(counting: CountingNetwork) -> None:
    picture = np.zeros((3, 32, 32), np.float32)
    assert find_place("sky", picture).shape == (8, 8)
    with pytest.raises(PlaceError, match=r"^I see no person in this photo$"):
        find_place("person", picture)
    assert list_present(picture) == ("sky",)


@pytest.mark.parametrize(
    "place", ["person", "person and top", "sky and person", "person except sky", "person or face"]
)
def test_a_where_of_which_nothing_is_there_is_refused(place: str, counting: CountingNetwork) -> None:
    with pytest.raises(PlaceError, match=r"^I see no person in this photo$"):
        resolve(place, np.full((32, 32, 3), 0.5, np.float32))


def test_what_is_left_out_need_not_be_there(counting: CountingNetwork) -> None:
    photo = np.full((32, 32, 3), 0.5, np.float32)
    assert resolve("not person", photo).min() == 1
    assert resolve("sky except person", photo) == pytest.approx(resolve("sky", photo))
    assert resolve("sky or person", photo) == pytest.approx(resolve("sky", photo))
    assert resolve({"of": "person", "invert": True, "soften": 5}, photo).min() == 1


def test_a_faint_or_tiny_place_is_not_there() -> None:
    masks = np.zeros((len(CHANNELS), 100, 100), np.float32)
    masks[:, :50] = 1
    sure = np.ones(len(CHANNELS), np.float32)
    assert FoundPlaces(masks, sure).is_there("sky")
    assert not FoundPlaces(masks, 0 * sure).is_there("sky")
    masks[:, 1:] = 0
    masks[:, 0, 3:] = 0
    assert not FoundPlaces(masks, sure).is_there("sky")


def test_the_background_is_what_is_not_the_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    masks = np.zeros((len(CHANNELS), 4, 4), np.float32)
    masks[CHANNELS.index("subject"), 1:3] = 0.75
    monkeypatch.setattr(named, "find_all", lambda picture: FoundPlaces(masks, np.ones(len(CHANNELS))))
    assert "background" in where.PLACES
    assert (find_place("background", np.zeros((3, 4, 4), np.float32))[1] == 0.25).all()


def test_the_network_of_the_package_knows_a_blue_sky_over_grass() -> None:
    """A drawn scene: noise makes grass of the lower part, the upper one is a clean gradient of blue."""
    y, x = np.mgrid[:256, :384] / 256
    noise = np.random.default_rng(0).normal(0, 0.09, (256, 384, 1))
    sky = np.stack([0.35 + 0.4 * y, 0.55 + 0.3 * y, 0.9 + 0 * y], axis=-1)
    grass = np.stack([0.25 + 0 * x, 0.42 + 0 * x, 0.12 + 0 * x], axis=-1) + noise
    scene = np.clip(np.where((y < 0.55)[..., None], sky, grass), 0, 1).astype(np.float32)
    network._answers.clear()
    mask = resolve("sky", scene)
    assert mask[:120].mean() > 0.8
    assert mask[170:].mean() < 0.1


def test_a_copy_has_the_places_of_its_picture(counting: CountingNetwork) -> None:
    picture, copy = np.full((3, 8, 8), 0.5, np.float32), np.full((3, 4, 4), 0.5, np.float32)
    network.share_answer(picture, copy)
    assert network.find_all(copy) is network.find_all(picture)
    assert counting.runs == 1
