"""The place network: shapes, its exported twin, and what training learns from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from t2onet.data.place_labels import FULL, PlaceSet  # noqa: E402
from t2onet.inference import open_session  # noqa: E402
from t2onet.models.places import PlaceNetwork, export_places  # noqa: E402
from t2onet.places.network import CHANNELS, PlaceFinderNetwork  # noqa: E402
from t2onet.training.places import PlaceBatches, measure_loss  # noqa: E402


@pytest.fixture(scope="module")
def network() -> PlaceNetwork:
    torch.manual_seed(0)
    return PlaceNetwork().eval()


def test_masks_have_half_the_size_of_the_picture(network: PlaceNetwork) -> None:
    with torch.no_grad():
        masks, presence = network(torch.rand(2, 3, 64, 96))
    assert masks.shape == (2, len(CHANNELS), 32, 48)
    assert presence.shape == (2, len(CHANNELS))


def test_the_exported_graph_joins_a_picture_and_its_mirror_image(
    network: PlaceNetwork, tmp_path: Path
) -> None:
    pytest.importorskip("onnx")
    export_places(network, tmp_path / "places.onnx", stored="float32")
    picture = torch.rand(1, 3, 96, 64, generator=torch.Generator().manual_seed(1))
    masks, presence = open_session(tmp_path / "places.onnx").run(None, {"picture": picture.numpy()})
    with torch.no_grad():
        straight, mirrored = network(picture), network(picture.flip(3))
    mean = (straight[0] + mirrored[0].flip(3)) / 2
    assert masks == pytest.approx(mean.sigmoid().numpy(), abs=1e-4)
    assert presence == pytest.approx(((straight[1] + mirrored[1]) / 2).sigmoid().numpy(), abs=1e-4)


def test_a_stored_network_is_small_and_finds_places_in_pictures_of_any_shape(
    network: PlaceNetwork, tmp_path: Path
) -> None:
    pytest.importorskip("onnx")
    export_places(network, tmp_path / "places.onnx")
    assert (tmp_path / "places.onnx").stat().st_size < 8e6
    finder = PlaceFinderNetwork(tmp_path / "places.onnx")
    for shape in ((3, 1, 1), (3, 20, 500), (3, 341, 512)):
        found = finder.find(np.full(shape, 0.5, np.float32))
        assert len(found.masks) == len(found.chances) == len(CHANNELS)
        assert 0 <= found.masks.min() <= found.masks.max() <= 1


def test_the_loss_leaves_out_what_is_not_known() -> None:
    count = len(CHANNELS)
    logits = torch.zeros(1, count, 4, 4, requires_grad=True)
    scores = torch.zeros(1, count, requires_grad=True)
    known = torch.zeros(1, count, 4, 4)
    known[:, 1, :2] = 1
    masks = known.clone()
    presence = torch.full((1, count), -1.0)
    presence[0, 2] = 1
    losses = measure_loss(logits, scores, masks, known, presence)
    assert losses["entropy"].item() == pytest.approx(np.log(2))
    torch.stack(list(losses.values())).sum().backward()
    assert logits.grad is not None
    assert scores.grad is not None
    assert (logits.grad[0, 1, :2] < 0).all()
    assert logits.grad[0, 1, 2:].abs().max() == 0
    assert logits.grad[0, [0, 2, 3]].abs().max() == 0
    assert scores.grad[0].nonzero().flatten().tolist() == [2]


def test_the_subject_of_a_close_up_is_not_known() -> None:
    photos = np.zeros((1, 64, 64, 3), np.uint8)
    masks = np.full((1, len(CHANNELS), 32, 32), FULL, np.uint8)
    places = PlaceSet(["0001"], ["train"], photos, masks, np.ones((1, len(CHANNELS)), np.int8))
    _, _, known, _ = PlaceBatches(places, [0], [], 0.0, seed=0).draw(64, 32)
    of_subject = known[:, CHANNELS.index("subject")].amax((1, 2))
    assert 4 < (of_subject == 0).sum() < 32
    assert known[:, CHANNELS.index("sky")].amin() == 1
