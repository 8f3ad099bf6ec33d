"""What every baseline promises: any even size, answers in [0, 1], and nothing that cannot learn."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from t2onet.language import Vocabulary
from t2onet.models.baselines import BASELINES
from t2onet.models.files import describe_network, load_network, write_tensors
from tests.conftest import ROOT
from tests.models.baselines.helpers import SMALL, WORDS, requests, small

NAMES = list(BASELINES)


def silent(network: nn.Module) -> list[str]:
    """Parameters that a backward pass has not reached."""
    return [name for name, p in network.named_parameters() if p.grad is None or not p.grad.any()]


def awake(network: nn.Module) -> nn.Module:
    """Attention that begins as the identity, begun."""
    for name, parameter in network.named_parameters():
        if name.endswith("share"):
            parameter.data.fill_(0.1)
    return network


def total(parts: dict[str, Tensor]) -> Tensor:
    """All of them, each with another weight so that none cancels another."""
    found = torch.stack(list(parts.values()))
    return (found * torch.arange(1, len(found) + 1)).sum()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_documentation_counts_its_parameters(name: str) -> None:
    with torch.device("meta"):
        gan = BASELINES[name].gan(BASELINES[name].config(), 918)
    counts = [sum(p.numel() for p in side.parameters()) / 1e6 for side in (gan.generator, gan.discriminator)]
    rows = (ROOT / "docs" / "training.md").read_text(encoding="utf-8").splitlines()
    (row,) = (row for row in rows if row.startswith(f"| `{name}` |"))
    assert row.endswith(f"| {counts[0]:.1f} M | {counts[1]:.1f} M |")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("height", "width"), [(32, 32), (50, 38)])
def test_any_even_size(name: str, height: int, width: int) -> None:
    batch, _ = requests(height, width)
    for network in (small(name).generator.train(), small(name).generator.eval()):
        with torch.no_grad():
            picture = network(batch.image, batch.tokens)
        assert (picture.shape, picture.dtype) == (batch.image.shape, torch.float32)
        assert ((picture >= 0) & (picture <= 1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_both_sides_learn_with_every_weight(name: str) -> None:
    gan, (batch, target) = small(name), requests()
    generator, discriminator = awake(gan.generator), awake(gan.discriminator)
    output = gan.generator.generate(batch.image, batch.tokens)
    near = torch.stack([picture.mean() for picture in output.pictures]).sum()
    (near + total({**output.penalties, **gan.generator_loss(batch, output.pictures)})).backward()
    assert silent(generator) == []
    discriminator.zero_grad()
    pictures = tuple(picture.detach() for picture in output.pictures)
    total(gan.discriminator_loss(batch, target, pictures)).backward()
    assert silent(discriminator) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_opinion_alone_reaches_the_picture(name: str) -> None:
    gan, (batch, _) = small(name), requests()
    output = gan.generator.generate(batch.image, batch.tokens)
    pictures = tuple(picture.detach().requires_grad_() for picture in output.pictures)
    total(gan.generator_loss(batch, pictures)).backward()
    assert all(picture.grad.flatten(1).any(1).all() for picture in pictures)


@pytest.mark.parametrize("name", NAMES)
def test_photo_and_request_both_matter(name: str) -> None:
    network, (batch, target) = small(name).generator, requests()

    def answered(image: Tensor, tokens: Tensor) -> Tensor:
        torch.manual_seed(0)
        with torch.no_grad():
            return network(image, tokens)

    first = answered(batch.image, batch.tokens)
    assert torch.equal(first, answered(batch.image, batch.tokens))
    assert not torch.equal(first, answered(target, batch.tokens))
    assert not torch.equal(first, answered(batch.image, batch.tokens.flip(0)))


@pytest.mark.parametrize("name", NAMES)
def test_chance_has_no_part_in_evaluation(name: str) -> None:
    network, (batch, _) = small(name).generator.eval(), requests()
    with torch.no_grad():
        first, again = (network(batch.image, batch.tokens) for _ in range(2))
    assert torch.equal(first, again)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_padding_behind_a_request_changes_nothing(name: str) -> None:
    network, (batch, _) = small(name).generator.eval(), requests()
    padded = torch.cat([batch.tokens, torch.zeros_like(batch.tokens)], 1)
    with torch.no_grad():
        answers = [network(batch.image, tokens) for tokens in (batch.tokens, padded)]
    torch.testing.assert_close(*answers)


@pytest.mark.parametrize("name", NAMES)
def test_a_generator_comes_back_from_a_file(name: str, tmp_path: Path) -> None:
    words = Vocabulary(("<NONE>", "<START>", "<END>", "<UNK>", *(f"word{n}" for n in range(WORDS - 4))))
    network, (batch, _) = small(name).generator.eval(), requests()
    config = BASELINES[name].config(**SMALL[name])
    write_tensors(tmp_path / "w.safetensors", network.state_dict(), describe_network(name, config, words))
    loaded = load_network(tmp_path / "w.safetensors").network
    with torch.no_grad():
        assert torch.equal(loaded(batch.image, batch.tokens), network(batch.image, batch.tokens))
