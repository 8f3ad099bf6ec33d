"""D(I0, I, Q): a score for an edit, by what was, what is and what was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from t2onet.language import Vocabulary
from t2onet.models.discriminator import Discriminator, DiscriminatorConfig, least_squares_loss
from t2onet.models.files import describe_network, load_network, write_tensors

SMALL = DiscriminatorConfig(patch_width=4, vector_size=6, request_size=8, request_channels=4)
TOKENS = torch.tensor([[1, 5, 6, 2, 0], [1, 7, 2, 0, 0]])


def pair(height: int, width: int) -> tuple[Tensor, Tensor]:
    before, after = torch.rand(2, 2, 3, height, width)
    return before, after


@pytest.mark.parametrize(("height", "width"), [(32, 32), (34, 50), (8, 22), (128, 96)])
def test_any_even_size(height: int, width: int) -> None:
    network = Discriminator(SMALL, 10)
    fine, coarse = network(*pair(height, width), TOKENS)
    assert (fine.shape[:2], coarse.shape[:2]) == ((2, 1), (2, 1))
    assert fine.shape[-1] > coarse.shape[-1] > 0
    score = network.score(*pair(height, width), TOKENS)
    assert score.shape == (2,)
    assert ((score > 0) & (score < 1)).all()


def test_gradients_reach_both_photos_the_request_and_every_weight() -> None:
    network = Discriminator(SMALL, 10)
    before, after = (photo.requires_grad_() for photo in pair(32, 32))
    least_squares_loss(network(before, after, TOKENS), 1.0).backward()
    assert all(photo.grad.flatten(1).any(1).all() for photo in (before, after))
    words = network.sentence.embedding.weight.grad.any(1)
    assert words.tolist() == [k in {1, 2, 5, 6, 7} for k in range(10)]
    silent = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.any()]
    assert silent == []


def test_least_squares_by_hand() -> None:
    """Scales count alike, whatever the number of their patches."""
    opinions = [torch.tensor([[[[0.5, 1.0]]]]), torch.tensor([[[[0.0]]]])]
    assert least_squares_loss(opinions, 1.0).item() == pytest.approx((0.125 + 1) / 2)


def test_the_score_is_half_way_between_answer_and_target() -> None:
    network = Discriminator(SMALL, 10)
    for opinion, score in ((0.0, 0.1192), (0.5, 0.5), (1.0, 0.8808)):
        for patches in network.patches:
            patches.out.weight.data.zero_()
            patches.out.bias.data.fill_(opinion)
        assert network.score(*pair(32, 32), TOKENS).tolist() == pytest.approx([score] * 2, abs=1e-4)


@pytest.mark.slow
def test_it_learns_which_edit_was_asked_for() -> None:
    """Photos brightened or darkened; only the request tells which of them is the target."""
    network = Discriminator(SMALL, 10)
    optimizer = torch.optim.Adam(network.parameters(), 0.01)
    photos = torch.rand(16, 3, 16, 16) * 0.4 + 0.3
    up = torch.arange(16) % 2 == 0
    tokens = torch.where(up[:, None], torch.tensor([1, 5, 2]), torch.tensor([1, 6, 2]))
    asked, other = (photos + 0.2 * torch.where(way, 1.0, -1.0)[:, None, None, None] for way in (up, ~up))
    for _ in range(100):
        optimizer.zero_grad()
        wrong = least_squares_loss(network(photos, asked, tokens), 1.0)
        (wrong + least_squares_loss(network(photos, other, tokens), 0.0)).backward()
        optimizer.step()
    with torch.no_grad():
        assert (network.score(photos, asked, tokens) > 0.7).all()
        assert (network.score(photos, other, tokens) < 0.3).all()


def test_it_comes_back_from_a_file(tmp_path: Path) -> None:
    words = Vocabulary(("<NONE>", "<START>", "<END>", "<UNK>", *(f"word{n}" for n in range(6))))
    network = Discriminator(SMALL, len(words)).eval()
    path = tmp_path / "discriminator.safetensors"
    write_tensors(path, network.state_dict(), describe_network("discriminator", SMALL, words))
    loaded = load_network(path).network
    photos = pair(32, 32)
    assert torch.equal(loaded.score(*photos, TOKENS), network.score(*photos, TOKENS))
