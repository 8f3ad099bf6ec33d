"""What the reader learns from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from t2onet.data.marks import MarkedSentence, MarkedWish
from t2onet.language.wishes import HUES, WHATS, WHERES, Amount, Direction, Role, Verb, Wish
from t2onet.models.reader import LOOK_WIDTH, SLOTS, ReaderNetwork
from t2onet.operations import Attribute
from t2onet.training.reader import (
    IGNORED,
    JudgedRequest,
    ReaderLoss,
    ReaderSample,
    collate,
    conclude,
    drop_loose_words,
    list_looks,
    make_sample,
    measure_reading,
    measure_written,
    number_change,
)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = ["make", "it", "bright", "##er", ",", "less", "yellow", "in", "the", "sky", "+", "20", "%", "noir"]
PIECES = [*SPECIAL, *WORDS]
VOCABULARY = {piece: number for number, piece in enumerate(PIECES)}
BRIGHTER = Wish("lightness", Direction.UP, Amount.MUCH)
LESS_YELLOW = Wish("cast", Direction.DOWN, where="sky", hue="yellow")
UP, DOWN = (number_change(Attribute.LIGHTNESS, sign) for sign in (1, -1))


def make_sentence(*parts: tuple[str, Wish | None, str], look: str = "") -> MarkedSentence:
    """A sentence of parts: words, the wish they state, and the wish's head among them."""
    sentence = MarkedSentence()
    for words, wish, head in parts:
        owners = [MarkedWish(wish, look)] if wish else []
        sentence.wishes += owners
        for word in words.split():
            sentence.add(word, owners, head=word == head)
    return sentence


@pytest.fixture
def samples() -> list[ReaderSample]:
    sentences = [
        make_sentence(("make it", None, ""), ("brighter +20 %", BRIGHTER, "brighter")),
        make_sentence(
            ("brighter ,", BRIGHTER, "brighter"), ("less yellow in the sky", LESS_YELLOW, "yellow")
        ),
        make_sentence(("noir", Wish("look"), "noir"), look="noir"),
    ]
    return [make_sample(sentence, VOCABULARY) for sentence in sentences]


def test_labels_lie_on_the_first_piece_of_the_head(samples: list[ReaderSample]) -> None:
    sample = samples[0]  # [CLS] make it bright ##er + 20 % [SEP]
    assert sample.pieces.tolist() == [
        VOCABULARY[piece] for piece in ["[CLS]", "make", "it", "bright", "##er", "+", "20", "%", "[SEP]"]
    ]
    assert sample.labels[0].tolist() == [
        IGNORED, 0, 0, WHATS.index("lightness") + 1, IGNORED, 0, 0, 0, IGNORED,
    ]  # fmt: skip
    assert sample.labels[1:, 3].tolist() == [
        list(Direction).index(Direction.UP), list(Amount).index(Amount.MUCH), list(Role).index(Role.ASK),
        WHERES.index("whole"), 0, list(Verb).index(Verb.CHANGE),
    ]  # fmt: skip
    assert (sample.labels[1:, [1, 2, 5, 6, 7]] == IGNORED).all()


def test_words_belong_to_their_heads(samples: list[ReaderSample]) -> None:
    assert samples[0].belongs[:, 3].tolist() == [-1, 0, 0, 1, -1, 1, 1, 1, -1]
    assert (np.delete(samples[0].belongs, 3, axis=1) == -1).all()
    sample = samples[1]  # [CLS] bright ##er , less yellow in the sky [SEP]
    assert sample.belongs[:, 1].tolist() == [-1, 1, -1, 0, 0, 0, 0, 0, 0, -1]
    assert sample.belongs[:, 5].tolist() == [-1, 0, -1, 0, 1, 1, 1, 1, 1, -1]
    assert sample.labels[list(SLOTS).index("hue"), 5] == HUES.index("yellow") + 1


def test_a_look_has_its_class(samples: list[ReaderSample]) -> None:
    assert samples[2].looks.tolist() == [IGNORED, list_looks().index("noir"), IGNORED]


def test_a_batch_is_padded(samples: list[ReaderSample]) -> None:
    batch = collate(samples, "cpu")
    assert batch["pieces"].shape == batch["what"].shape == (3, 16)
    assert batch["pieces"][2, 3:].eq(0).all()
    assert batch["what"][2, 3:].eq(IGNORED).all()
    assert batch["changes"].eq(-1).all()


def make_perfect_outputs(batch: dict[str, Tensor], loss: ReaderLoss) -> dict[str, Tensor]:
    """Logits that say what the labels say."""
    outputs = {
        name: 20 * nn.functional.one_hot(batch[name].clamp(min=0), size).float()
        for name, size in SLOTS.items()
    }
    outputs["belongs"] = 40 * batch["belongs"].float() - 20
    outputs["look"] = nn.functional.normalize(loss.prototypes.detach(), dim=-1)[batch["looks"].clamp(min=0)]
    return outputs


def test_perfect_outputs_cost_almost_nothing_and_others_more(samples: list[ReaderSample]) -> None:
    loss = ReaderLoss(len(list_looks()), LOOK_WIDTH)
    batch = collate(samples, "cpu")
    outputs = make_perfect_outputs(batch, loss)
    perfect = loss(outputs, batch)
    assert set(perfect) == {*SLOTS, "belongs", "look"}
    wrong = {name: value.roll(1, -1) for name, value in outputs.items()}
    wrong["belongs"], wrong["look"] = -outputs["belongs"], -outputs["look"]
    for name, value in loss(wrong, batch).items():
        assert value > perfect[name] + 1
        if name not in ("what", "look"):  # labels are smoothed; cosines have a limit
            assert perfect[name] < 1e-6


def test_a_small_network_learns_a_few_sentences(samples: list[ReaderSample]) -> None:
    torch.manual_seed(0)
    network = ReaderNetwork(len(PIECES), layers=1).eval()
    loss = ReaderLoss(len(list_looks()), LOOK_WIDTH)
    optimizer = torch.optim.Adam([*network.parameters(), *loss.parameters()], 1e-3)
    batch = collate(samples, "cpu")
    totals = []
    for _ in range(8):
        total = torch.stack(list(loss(network(batch["pieces"]), batch).values())).sum()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        totals.append(total.item())
    assert totals[-1] < 0.3 * totals[0]


def score_changes(wish: Wish, changes: list[int]) -> float:
    """The loss of the changes that a sentence asks for, where the network reads a wish in it."""
    sample = make_sample(make_sentence(("brighter", wish, "brighter")), VOCABULARY)
    loss = ReaderLoss(len(list_looks()), LOOK_WIDTH)
    outputs = make_perfect_outputs(collate([sample], "cpu"), loss)
    sample.changes = changes
    return float(loss(outputs, collate([sample], "cpu"))["changes"])


@pytest.mark.parametrize(
    ("wish", "right", "wrong"),
    [
        (BRIGHTER, [UP], [DOWN]),
        (BRIGHTER, [UP], []),
        (Wish("cast", Direction.DOWN, hue="yellow"), [number_change(Attribute.WARMTH, -1)], [UP]),
        (
            Wish("colour", Direction.UP, where="blues"),
            [number_change(Attribute.WARMTH, -1)],
            [number_change(Attribute.COLOURFULNESS, 1)],
        ),
        (Wish("lightness", Direction.UP, where="sky"), [], [UP]),
        (Wish("lightness", Direction.UP, role=Role.LIMIT), [], [UP]),
    ],
)
def test_the_right_changes_cost_less(wish: Wish, right: list[int], wrong: list[int]) -> None:
    assert score_changes(wish, right) < 0.1
    assert score_changes(wish, wrong) > 3


def test_wishes_amount_to_changes_of_the_whole_photo() -> None:
    assert conclude([BRIGHTER, Wish("lightness", Direction.DOWN, where="sky")]) == ({UP}, True)
    assert conclude([BRIGHTER, Wish("lightness", Direction.DOWN, hue="")]) == (frozenset(), True)
    assert conclude([Wish("remove")]) == (frozenset(), False)
    assert conclude([Wish("look")]) == (frozenset(), True)


def test_loose_words_give_way_to_the_judgement() -> None:
    sentence = make_sentence(("dull", Wish("punch", Direction.UP), "dull"), ("dark", BRIGHTER, "dark"))
    drop_loose_words(sentence, {UP})
    assert [marked.wish.what for marked in sentence.wishes] == ["lightness"]
    sentence = make_sentence(("dull", Wish("punch", Direction.UP), "dull"))
    drop_loose_words(sentence, {number_change(Attribute.CONTRAST, 1)})
    assert len(sentence.wishes) == 1


class PerfectReader(nn.Module):
    """Reads a batch as it is labelled."""

    def __init__(self, batch: dict[str, Tensor]) -> None:
        super().__init__()
        self.outputs = make_perfect_outputs(batch, ReaderLoss(len(list_looks()), LOOK_WIDTH))

    def forward(self, pieces: Tensor) -> dict[str, Tensor]:
        return self.outputs


def test_figures_compare_readings_with_judgements() -> None:
    wishes = [BRIGHTER, Wish("lightness", Direction.DOWN), Wish("remove")]
    samples = [make_sample(make_sentence(("brighter", wish, "brighter")), VOCABULARY) for wish in wishes]
    judged = [JudgedRequest(text, changes, doable) for text, changes, doable in (
        ("right", frozenset({UP}), True), ("wrong", frozenset({UP}), True), ("declined", frozenset(), False),
    )]  # fmt: skip
    figures, errors = measure_reading(PerfectReader(collate(samples, "cpu")), samples, judged, "cpu")
    assert figures == {
        "exact set of changes": 0.5,
        "macro recall": 0.5,
        "least recall": 0.5,
        "wrongly declined": 0.0,
        "unanswerable declined": 1.0,
    }
    assert [error.partition(":")[0] for error in errors] == ["wrong"]


def test_written_sentences_count_where_all_wishes_are_read() -> None:
    sentences = [
        make_sentence(("make it", None, ""), ("brighter +20 %", BRIGHTER, "brighter")),
        make_sentence(("make it", None, "")),
    ]
    unmarked = [make_sample(MarkedSentence(sentence.text), VOCABULARY) for sentence in sentences]
    share, errors = measure_written(PerfectReader(collate(unmarked, "cpu")), sentences, VOCABULARY, "cpu")
    assert share == 0.5, "the one that asks for nothing is read right"
    assert errors == ["make it brighter +20 %: ['lightness up whole ask change'], read as []"]
