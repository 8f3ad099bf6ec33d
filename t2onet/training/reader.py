"""What the reader learns from: samples, batches, losses, and how well it reads requests that were judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ..data.marks import MarkedSentence
from ..data.phrasing import load_phrases
from ..language.reader import Word, decode_wishes, encode_words, split_words
from ..language.wishes import (
    CHANGES,
    HUES,
    PLACES,
    RANGES,
    STYLES,
    WHATS,
    WHERES,
    WHOLE,
    Amount,
    Direction,
    Role,
    Verb,
    Wish,
    get_attributes,
)
from ..metrics.attributes import ATTRIBUTE_INDEX
from ..models.reader import SLOTS
from ..operations import Attribute

IGNORED = -100
MAX_LENGTH = 96
"""Pieces of a sentence in training."""
ATTRIBUTE_CLASSES = 2 * len(ATTRIBUTE_INDEX)
"""More or less of each attribute."""
LOSS_WEIGHTS = {
    "what": 1.0,
    "direction": 1.0,
    "amount": 0.5,
    "role": 0.7,
    "where": 0.7,
    "hue": 0.7,
    "verb": 0.5,
    "look": 0.3,
}
_LOOK_SHARPNESS = 12.0
_SMOOTHING = 0.02
_SIGNS = "+-−%&/"
"""Signs that may belong to a wish, unlike other punctuation."""


@dataclass
class ReaderSample:
    """A sentence as numbers: pieces (T,), labels of each slot (7, T), membership (T, T) and looks (T,).

    `belongs`[i, j] is 1 where piece i belongs to the wish with its head at piece j, 0 where it does not, and
    -1 where j is no head or i is not the first piece of its word. `changes` are the changes of attributes
    that it asks for where its words are not marked.
    """

    words: list[Word]
    pieces: np.ndarray
    owners: list[int]
    labels: np.ndarray
    belongs: np.ndarray
    looks: np.ndarray
    changes: list[int] | None = None
    weight: float = 1.0


def list_looks() -> list[str]:
    """The looks that the reader knows, in the order of its classes."""
    return list(load_phrases("looks")["looks"])


def number_change(attribute: Attribute, sign: int) -> int:
    """The class of more (1) or less (-1) of an attribute."""
    return 2 * ATTRIBUTE_INDEX[attribute] + (sign < 0)


def label_wish(wish: Wish) -> list[int]:
    """The classes of a wish in each slot."""
    return [
        WHATS.index(wish.what) + 1,
        list(Direction).index(wish.direction),
        list(Amount).index(wish.amount),
        list(Role).index(wish.role),
        WHERES.index(wish.where),
        HUES.index(wish.hue) + 1 if wish.hue else 0,
        list(Verb).index(wish.verb),
    ]


def make_sample(
    sentence: MarkedSentence, vocabulary: Mapping[str, int], *, has_verbs: bool = True
) -> ReaderSample:
    """The labels of a sentence whose wishes are marked; simulated ones say nothing about verbs."""
    words = split_words(sentence.text)
    pieces, owners = (values[:MAX_LENGTH] for values in encode_words(words, vocabulary))
    first = {owner: at for at, owner in reversed(list(enumerate(owners))) if owner >= 0}
    length, starts, looks_known = len(pieces), sorted(first.values()), list_looks()
    labels = np.full((len(SLOTS), length), IGNORED, np.int16)
    labels[0, starts] = 0
    belongs = np.full((length, length), -1, np.int8)
    looks = np.full(length, IGNORED, np.int16)

    def find(span: tuple[int, int]) -> list[int]:
        """The first pieces of the words in a span."""
        return [
            first[number]
            for number, word in enumerate(words)
            if number in first
            and word.start < span[1]
            and word.end > span[0]
            and (word.text[0].isalnum() or word.text[0] in _SIGNS)
        ]

    for marked in sentence.wishes:
        heads = find(marked.head) if marked.head else []
        if not heads or labels[0, heads[0]]:
            continue
        head = heads[0]
        labels[:, head] = label_wish(marked.wish)
        if not has_verbs:
            labels[list(SLOTS).index("verb"), head] = IGNORED
        if marked.look:
            looks[head] = looks_known.index(marked.look)
        belongs[starts, head] = 0
        belongs[sorted({*heads, *(at for span in marked.spans for at in find(span))}), head] = 1
    return ReaderSample(words, np.array(pieces, np.int32), owners, labels, belongs, looks)


def drop_loose_words(sentence: MarkedSentence, known: set[int]) -> None:
    """Leave out wishes in loose words such as "dull" where the judgement has other changes alone."""

    def agrees(wish: Wish) -> bool:
        implied = {number_change(*one) for one in get_attributes(wish.what, wish.direction)}
        loose = (
            wish.what in ("punch", "haze", "fade", "tint") and wish.role is Role.ASK and wish.where == WHOLE
        )
        return not (loose and implied and known) or bool(implied & known)

    sentence.wishes = [marked for marked in sentence.wishes if agrees(marked.wish)]


def collate(samples: Sequence[ReaderSample], device: torch.device | str) -> dict[str, Tensor]:
    """A batch, padded to the longest sentence."""
    length = -(-max(len(sample.pieces) for sample in samples) // 8) * 8
    size = len(samples)
    pieces = np.zeros((size, length), np.int64)
    labels = np.full((len(SLOTS), size, length), IGNORED, np.int64)
    belongs = np.full((size, length, length), -1, np.int8)
    looks = np.full((size, length), IGNORED, np.int64)
    changes = np.full((size, ATTRIBUTE_CLASSES), -1, np.float32)
    for row, sample in enumerate(samples):
        count = len(sample.pieces)
        pieces[row, :count] = sample.pieces
        if sample.changes is not None:
            changes[row] = 0
            changes[row, sample.changes] = 1
            continue
        labels[:, row, :count] = sample.labels
        belongs[row, :count, :count] = sample.belongs
        looks[row, :count] = sample.looks
    arrays = {"pieces": pieces, "belongs": belongs, "looks": looks, "changes": changes}
    batch = {**arrays, **dict(zip(SLOTS, labels, strict=True))}
    return {name: torch.from_numpy(value).to(device, non_blocking=True) for name, value in batch.items()}


class ReaderLoss(nn.Module):
    """The losses of a batch; holds the vectors of the looks, which are learned as well."""

    plain: Tensor
    casts: Tensor

    def __init__(self, looks: int, look_width: int) -> None:
        super().__init__()
        self.prototypes = nn.Parameter(torch.randn(looks, look_width))
        plain = torch.zeros(SLOTS["what"], SLOTS["direction"], ATTRIBUTE_CLASSES)
        casts = torch.zeros(SLOTS["direction"], SLOTS["hue"], ATTRIBUTE_CLASSES)
        for number, direction in enumerate(Direction):
            for what in CHANGES:
                for attribute, sign in get_attributes(what, direction):
                    plain[WHATS.index(what) + 1, number, number_change(attribute, sign)] = 1
            for hue in HUES:
                for attribute, sign in get_attributes("cast", direction, hue=hue):
                    casts[number, HUES.index(hue) + 1, number_change(attribute, sign)] = 1
        self.register_buffer("plain", plain)
        self.register_buffer("casts", casts)

    def forward(self, outputs: Mapping[str, Tensor], batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Parts whose sum is minimized; `changes` is for sentences whose words are not marked."""
        losses = {name: self._classify(outputs, batch, name) for name in SLOTS}
        losses["what"] = losses["what"] / (batch["what"] > 0).sum().clamp(min=1)
        known = batch["belongs"] >= 0
        losses["belongs"] = functional.binary_cross_entropy_with_logits(
            outputs["belongs"].float()[known], batch["belongs"][known].float()
        )
        marked = batch["looks"] >= 0
        if marked.any():
            vectors = functional.normalize(self.prototypes.float(), dim=-1)
            scores = _LOOK_SHARPNESS * outputs["look"].float()[marked] @ vectors.T
            losses["look"] = LOSS_WEIGHTS["look"] * functional.cross_entropy(scores, batch["looks"][marked])
        rows = batch["changes"][:, 0] >= 0
        if rows.any():
            losses["changes"] = self._score_changes(outputs, batch, rows)
        return losses

    def _classify(self, outputs: Mapping[str, Tensor], batch: Mapping[str, Tensor], name: str) -> Tensor:
        """The loss of a slot for each labelled piece; of heads the sum, which its caller divides."""
        head = name == "what"
        total = LOSS_WEIGHTS[name] * functional.cross_entropy(
            outputs[name].float().flatten(0, 1),
            batch[name].flatten(),
            ignore_index=IGNORED,
            label_smoothing=_SMOOTHING if head else 0.0,
            reduction="sum",
        )
        return total if head else total / (batch[name] != IGNORED).sum().clamp(min=1)

    def _score_changes(
        self, outputs: Mapping[str, Tensor], batch: Mapping[str, Tensor], rows: Tensor
    ) -> Tensor:
        """How unlikely the known changes are: a change is asked for if any piece asks for it."""
        chance = {name: outputs[name][rows].float().softmax(-1) for name in SLOTS}
        in_range = chance["where"][..., [WHERES.index(one) for one in RANGES]]
        in_place = chance["where"][..., [WHERES.index(one) for one in PLACES]].sum(-1)
        what = chance["what"].clone()
        colour = what[..., WHATS.index("colour") + 1].clone()
        what[..., WHATS.index("colour") + 1] = colour * (1 - in_range.sum(-1))
        cast = what[..., WHATS.index("cast") + 1]
        way = chance["direction"]
        pieces = torch.einsum("btw,btd,wda->bta", what, way, self.plain)
        pieces = pieces + torch.einsum("bt,btd,bth,dha->bta", cast, way, chance["hue"], self.casts)
        pieces = pieces + torch.einsum("bt,btd,btr,dra->bta", colour, way, in_range, self.casts[:, 1:])
        asked = chance["role"][..., list(Role).index(Role.ASK)] * (1 - in_place)
        inside = (batch["pieces"][rows] > 3).float() * asked
        none = torch.log1p(-(pieces * inside[..., None]).clamp(0, 0.999)).sum(1)
        some = torch.log(-torch.expm1(none.clamp(max=-1e-6)))
        target = batch["changes"][rows]
        return -(target * some + (1 - target) * none).sum(-1).mean()


@dataclass(frozen=True)
class JudgedRequest:
    """What is known of a request: the changes of attributes it asks for, and whether anything can be done."""

    text: str
    changes: frozenset[int]
    doable: bool | None
    """None where that is unclear."""


def conclude(wishes: Sequence[Wish]) -> tuple[frozenset[int], bool]:
    """The changes of attributes that wishes about the whole photo ask for, and whether any can be met."""
    asked = [wish for wish in wishes if wish.role is Role.ASK and wish.where not in PLACES]
    whole = {wish.what for wish in asked if wish.where == WHOLE}
    asked = [wish for wish in asked if wish.where == WHOLE or wish.what not in whole]
    changes = {
        number_change(*one)
        for wish in asked
        for one in get_attributes(wish.what, wish.direction, wish.where, wish.hue)
    }
    return frozenset(one for one in changes if one ^ 1 not in changes), any(
        wish.what in (*CHANGES, *STYLES) for wish in asked
    )


def measure_reading(
    network: nn.Module,
    samples: Sequence[ReaderSample],
    judged: Sequence[JudgedRequest],
    device: torch.device | str,
) -> tuple[dict[str, float], list[str]]:
    """How well judged requests are read, and those that are not."""
    found = [conclude(wishes) for wishes in read_samples(network, samples, device)]
    exact = [changes == one.changes for (changes, _), one in zip(found, judged, strict=True) if one.changes]
    hits = np.zeros(ATTRIBUTE_CLASSES)
    counts = np.zeros(ATTRIBUTE_CLASSES)
    errors: list[str] = []
    for (changes, doable), one in zip(found, judged, strict=True):
        counts[list(one.changes)] += 1
        hits[list(one.changes & changes)] += 1
        if (one.changes and changes != one.changes) or one.doable not in (None, doable):
            errors.append(f"{one.text}: {sorted(one.changes)}, read as {sorted(changes)}, done {doable}")
    recalls = hits[counts > 0] / counts[counts > 0]
    declined = [not doable for (_, doable), one in zip(found, judged, strict=True) if one.doable]
    refused = [not doable for (_, doable), one in zip(found, judged, strict=True) if one.doable is False]
    figures = {
        "exact set of changes": float(np.mean(exact)),
        "macro recall": float(recalls.mean()),
        "least recall": float(recalls.min()),
        "wrongly declined": float(np.mean(declined)),
        "unanswerable declined": float(np.mean(refused)),
    }
    return figures, errors


def measure_written(
    network: nn.Module,
    sentences: Sequence[MarkedSentence],
    vocabulary: Mapping[str, int],
    device: torch.device | str,
) -> tuple[float, list[str]]:
    """Share of marked sentences whose wishes are all read right but for amounts, and the others."""
    samples = [make_sample(sentence, vocabulary) for sentence in sentences]
    errors = []
    for sentence, wishes in zip(sentences, read_samples(network, samples, device), strict=True):
        wanted = sorted({_name_wish(marked.wish) for marked in sentence.wishes})
        found = sorted({_name_wish(wish) for wish in wishes})
        if wanted != found:
            errors.append(f"{sentence.text}: {wanted}, read as {found}")
    return 1 - len(errors) / max(len(sentences), 1), errors


def _name_wish(wish: Wish) -> str:
    parts = (wish.what, wish.direction, wish.where, wish.hue, wish.role, wish.verb)
    return " ".join(parts).replace("  ", " ")


@torch.no_grad()
def read_samples(
    network: nn.Module, samples: Sequence[ReaderSample], device: torch.device | str, size: int = 256
) -> list[list[Wish]]:
    """The wishes that a network reads in each sentence."""
    network.eval()
    found: list[list[Wish]] = []
    for start in range(0, len(samples), size):
        part = samples[start : start + size]
        outputs = network(collate(part, device)["pieces"])
        arrays = {name: value.float().cpu().numpy() for name, value in outputs.items()}
        for row, sample in enumerate(part):
            own = {name: value[row, : len(sample.pieces)] for name, value in arrays.items()}
            own["looks"] = own.pop("look")
            wishes = decode_wishes(
                own, sample.words, sample.owners, [str(n) for n in range(own["looks"].shape[1])]
            )
            found.append([one.wish for one in wishes])
    return found
