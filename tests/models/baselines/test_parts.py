"""What the baselines are made of, by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from t2onet.models.baselines import GeneratorOutput, PictureGenerator, resize_like
from t2onet.models.baselines.common import (
    ConditioningAugmentation,
    concatenate_code,
    gan_cross_entropy,
    pad_to_side,
    resize_seed,
)
from t2onet.models.baselines.geneva import (
    ConditionalBatchNorm,
    DialogueState,
    GeNeVa,
    GeNeVaConfig,
    SelfAttention,
)
from t2onet.models.baselines.manigan import AffineCombination, ManiGANConfig, WordAttention
from t2onet.models.baselines.sisgan import BilinearConfig, BilinearResidual
from t2onet.models.baselines.tagan import TAGANDiscriminator
from t2onet.models.decoding import RequestBatch
from t2onet.models.text import GRUTextEncoder
from tests.models.baselines.helpers import requests, small


class Copy(PictureGenerator):
    """Paints what it is shown, and once more at half the size."""

    multiple = 16

    def paint(self, image: Tensor, tokens: Tensor) -> GeneratorOutput:
        assert image.shape[-1] % 16 == image.shape[-2] % 16 == 0
        return GeneratorOutput((nn.functional.avg_pool2d(image, 2), image), {})


@pytest.mark.slow
@pytest.mark.parametrize(("height", "width"), [(16, 16), (18, 40), (2, 6)])
def test_photos_are_continued_and_cut_back(height: int, width: int) -> None:
    batch, _ = requests(height, width)
    half, whole = Copy().generate(batch.image, batch.tokens).pictures
    torch.testing.assert_close(whole, batch.image)
    torch.testing.assert_close(half, resize_like(batch.image, half))
    assert half.shape[-2:] == (height // 2, width // 2)


def test_conditioning_augmentation_by_hand() -> None:
    """A standard cloud diverges by nothing; one around (1, -1) with spread e by ((e^2 + .52) / 2 - 1)."""
    cloud = ConditioningAugmentation(3, 2)
    for layer in (cloud.middle[0], cloud.log_spread[0]):
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
    assert cloud(torch.rand(4, 3))[1].item() == 0.0
    cloud.middle[0].bias.data = torch.tensor([1.0, -1.0])
    cloud.log_spread[0].bias.data.fill_(1.0)
    code, divergence = cloud.eval()(torch.rand(4, 3))
    assert code[0].tolist() == pytest.approx([1.0, -0.2])
    assert divergence.item() == pytest.approx((math.e**2 + (1 + 0.04) / 2 - 1) / 2 - 1, abs=1e-5)
    assert cloud.train()(torch.rand(4, 3))[0].std(0).min() > 0.1


def test_maps_at_other_sizes() -> None:
    seed = torch.rand(1, 2, 4, 4)
    assert resize_seed(seed, 4, 4) is seed
    assert resize_seed(seed, 3, 7).shape == (1, 2, 3, 7)
    assert pad_to_side(seed, 4) is seed
    assert torch.equal(pad_to_side(seed[..., :1, :1], 4), seed[..., :1, :1].expand(1, 2, 4, 4))
    laid = concatenate_code(torch.tensor([[5.0]]), seed)
    assert (laid.shape, laid[0, 2].unique().tolist()) == ((1, 3, 4, 4), [5.0])


def test_cross_entropy_by_hand() -> None:
    logits = torch.tensor([0.0, math.log(3.0)])
    assert gan_cross_entropy(logits, True).item() == pytest.approx((math.log(2) + math.log(4 / 3)) / 2)
    assert gan_cross_entropy(logits, False).item() == pytest.approx((math.log(2) + math.log(4)) / 2)


def test_a_bilinear_layer_multiplies_photo_and_request() -> None:
    """Without a request nothing of the photo passes the product: only the way around is left."""
    block = BilinearResidual(BilinearConfig(width=1, rank=3, code=2)).eval()
    block.product.bias.data.zero_()
    photo = torch.rand(1, 4, 2, 2)
    torch.testing.assert_close(block(photo, torch.zeros(1, 2)), photo)
    block.of_request.weight.data.fill_(1.0)
    block.of_photo.weight.data.fill_(1.0)
    fused = block.of_photo(photo) * 2.0
    expected = (photo + block.inner(block.product(fused).relu())).relu()
    torch.testing.assert_close(block(photo, torch.ones(1, 2)), expected)


def test_a_turn_is_a_step_of_a_gru_from_nothing() -> None:
    turn, cell = DialogueState(GeNeVaConfig(word_size=3, hidden=4, state=5), 9), nn.GRUCell(4, 5)
    nn.init.zeros_(cell.bias_hh)
    with torch.no_grad():
        cell.weight_ih[5:].copy_(torch.cat([turn.update.weight, turn.new.weight]))
        cell.bias_ih[5:].copy_(torch.cat([turn.update.bias, turn.new.bias]))
    tokens = torch.tensor([[1, 5, 2]])
    torch.testing.assert_close(turn(tokens), cell(turn.sentence(tokens).whole))


def test_the_state_scales_and_shifts_a_conditional_norm() -> None:
    norm = ConditionalBatchNorm(1, 1)
    for layer, value in ((norm.scale, 2.0), (norm.shift, 0.5)):
        layer.weight.data.fill_(value)
        layer.bias.data.zero_()
    x = torch.tensor([-1.0, 1.0])[:, None, None, None]
    moved = norm(x, torch.tensor([[0.0], [1.0]]))
    assert moved.flatten().tolist() == pytest.approx([-1.0, 3.5], abs=1e-4)


def test_self_attention_begins_as_the_identity() -> None:
    attention, x = SelfAttention(8), torch.rand(2, 8, 3, 3)
    assert torch.equal(attention(x), x)
    attention.share.data.fill_(1.0)
    attention.layers[0].weight.data.zero_()  # every place attends to all alike
    expected = x + attention.layers[2](x).mean((-2, -1), keepdim=True)
    torch.testing.assert_close(attention(x), expected)


def test_the_gradient_penalty_by_hand() -> None:
    """A score of .5 for each unit of a pixel has a squared slope of .25 a number."""
    game = small("geneva")
    game.discriminator.forward = (  # type: ignore[method-assign]
        lambda photo, picture, tokens: 0.5 * picture.sum((1, 2, 3)) - 0.25 * picture[0].numel()
    )
    image = torch.full((2, 3, 4, 4), 0.5)
    parts = GeNeVa.discriminator_loss(game, RequestBatch(torch.ones(2, 3), None, image), image, (image,))
    assert {name: part.item() for name, part in parts.items()} == {"real": 1.0, "fake": 1.0, "slope": 12.0}


def test_undecided_experts_say_a_half() -> None:
    """Weights over scales and over words sum to one, so that equal answers are the answer."""
    network: TAGANDiscriminator = small("tagan").discriminator  # type: ignore[assignment]
    for expert in network.experts:
        nn.init.zeros_(expert.weight)
        nn.init.zeros_(expert.bias)
    batch, target = requests()
    _, fits = network(target, batch.tokens)
    assert fits.exp().tolist() == pytest.approx([0.5] * 3)


def test_affine_combination_by_hand() -> None:
    """Of a photo's .5 four features are made, and of these a scale of 2 / 4 each and a shift of 3 / 4."""
    affine = AffineCombination(1, 1)
    for layer, value in ((affine.inner, 1.0), (affine.scale, 0.5), (affine.shift, 0.75)):
        layer.weight.data.zero_()
        layer.weight.data[..., 1, 1] = value
    x, photo = torch.full((1, 1, 2, 2), 5.0), torch.full((1, 1, 2, 2), 0.5)
    assert affine(x, photo).unique().tolist() == [5.0 * 1.0 + 1.5]


def test_a_request_of_one_word_is_what_every_place_attends_to() -> None:
    config = ManiGANConfig(hidden=4, width=2, grid=3)
    attention, heard = WordAttention(config), GRUTextEncoder(9, 5, 4)(torch.tensor([[7, 0, 0]]))
    seen = attention(torch.rand(1, 2, 6, 4), heard)
    assert seen.shape == (1, 6, 6, 4)
    word = attention.words(heard.states[:, 0])
    torch.testing.assert_close(seen[:, 2:4], word[..., None, None].expand(1, 2, 6, 4))
    assert torch.equal(seen[:, 4], seen[:, 5])
