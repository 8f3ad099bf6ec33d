"""Training samples of the shipped network: simulated requests (literal mode) and an expert's pairs (expert
mode).

Samplers draw photos, edits and sentences without pixels, in worker processes; `BatchRenderer` makes the
pictures on the network's device. Everything about batch number `i` follows from the seed and `i`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from ..data.packed import PackedSet
from ..data.simulation.echoes import Echoes
from ..data.simulation.mining import Phrases
from ..data.simulation.moods import FAULTS
from ..data.simulation.sentences import MATTERS, request
from ..data.simulation.strengths import COLUMNS, STAGES, strengths
from ..data.simulation.wish import ChangeKind, DrawnWish, Flavour
from ..data.simulation.wishes import FLAVOURS, Class, Draw, chosen, classes_of, drawn
from ..language.grams import LONGEST, PIECES, spelt
from ..language.keywords import keywords
from ..metrics.attributes import ATTRIBUTE_INDEX as ATTRIBUTES
from ..metrics.attributes import JUST_NOTICEABLE, TRAINING_LIGHTNESS, check_usable, measure_attributes
from ..models.retoucher import OPERATION_ORDER, RETOUCHER_MODES, RetoucherRequests, compile_if

VERDICTS = ("edit", *MATTERS)
"""Kinds of request: an edit, or something that no operation can do."""
UNKNOWN_VERDICT = -1
"""The verdict on a request that cannot be answered, where the kind is not known."""
LITERAL_MODE, EXPERT_MODE = RETOUCHER_MODES.index("literal"), RETOUCHER_MODES.index("expert")
EXPERT_OPERATIONS = ("color", "saturation", "tone")
"""Operations that reproduce an expert's picture."""
FULL_FRAME = (1.0, 0.0, 0.0, 1.0)
"""Share of a side that is shown, x and y of its centre in half sides, and -1 if mirrored, else 1."""
OPERATIONS_BY_KIND: dict[ChangeKind, tuple[str, ...]] = {
    ChangeKind.EXPOSURE: ("brightness", "tone"),
    ChangeKind.SHADOWS: ("brightness", "tone", "contrast"),
    ChangeKind.HIGHLIGHTS: ("brightness", "tone", "contrast"),
    ChangeKind.CONTRAST: ("saturation", "tone", "contrast"),
    ChangeKind.CHROMA: ("saturation", "tone"),
    ChangeKind.TEMPERATURE: ("color",),
    ChangeKind.TINT: ("color",),
    ChangeKind.COLOUR: ("color",),
    ChangeKind.SHARPNESS: ("sharpness",),
    ChangeKind.MONOCHROME: ("color", "saturation"),
}
"""The fewest operations that come close to each change (LOG.md: fitted jointly on photos)."""
REAL_REQUEST_SHARE = 0.5
"""Share of simulated samples that start from a real request, where there are some."""
VARIATION_SCALES = {"exposure": 0.5, "contrast": 0.15, "temperature": 10.0, "chroma": 0.15}
"""Standard deviations of changes to an input at a `variation` of 1."""
_BLEND_RANGE = (-0.25, 0.6)


@dataclass(frozen=True)
class RetoucherSample:
    """One thing to learn: a photo, a request and the wanted result, without pixels."""

    photo: int
    """Row of the photos."""
    target: int
    """Row of the photos."""
    text: str
    mode: int
    used: NDArray[np.float32]
    """0 or 1 for each operation."""
    strengths: NDArray[np.float64]
    """A simulated edit of `photo`."""
    spoils: bool = False
    """Whether the edited photo is the input and `target` the wanted result; else the photo is the input and
    the edited one the wanted result.
    """
    asked: Sequence[float] = (0.0,) * len(ATTRIBUTES)
    """Requested changes of attributes, as signed roots of their amounts."""
    verdict: int = 0
    real: bool = False
    """Whether it is a pair of photographs; else it is simulated."""
    frame: tuple[float, float, float, float] = FULL_FRAME
    blend: float = 0.0
    """How far the input is moved towards the target beforehand."""


def mark_used(names: Sequence[str] | set[str]) -> NDArray[np.float32]:
    """Mark the operations of the order that are among `names`."""
    return np.array([name in names for name in OPERATION_ORDER], np.float32)


def draw_frame(rng: np.random.Generator, crop: float) -> tuple[float, float, float, float]:
    """A random frame that leaves out up to `crop` of each side, mirrored or not."""
    share = 1 - crop * rng.random()
    x, y = (1 - share) * (2 * rng.random(2) - 1)
    return float(share), float(x), float(y), float(rng.choice((-1.0, 1.0)))


@dataclass(frozen=True)
class LiteralSampler:
    """Simulated samples: a wish, a sentence that says it, and the edit that fulfils it.

    `photos` are the rows to draw from, `finished` those of them without faults to correct.
    """

    photos: NDArray[np.int64]
    finished: NDArray[np.int64]
    echoes: Echoes | None = None

    def sample(self, rng: np.random.Generator, count: int) -> Iterator[RetoucherSample]:
        """Balance classes of attribute and sign, among generated requests and among real ones."""
        phrases = None if self.echoes is None else self.echoes.phrases
        generated: Counter[Class] = Counter()
        real: Counter[Class] = Counter()
        for _ in range(count):
            if self.echoes is not None and rng.random() < REAL_REQUEST_SHARE:
                yield self._make_sample(*self.echoes.draw(rng, real), rng)
            else:
                draw = drawn(chosen(FLAVOURS, rng), rng, generated)
                generated.update(classes_of(draw.wish.intents))
                yield self._make_sample(draw, request(draw.wish, rng, phrases), rng)

    def _make_sample(self, draw: Draw, text: str, rng: np.random.Generator) -> RetoucherSample:
        corrects = draw.wish.mood in FAULTS
        row = int(rng.choice(self.finished if corrects else self.photos))
        return RetoucherSample(
            photo=row,
            target=row,
            text=text,
            mode=LITERAL_MODE,
            used=_mark_wish_operations(draw.wish, corrects),
            strengths=strengths(draw.before or draw.after),
            spoils=bool(draw.before),
            asked=_signed_amounts(draw.wish),
            verdict=_find_verdict(draw.wish),
            frame=draw_frame(rng, 0.0),
        )


def _find_verdict(wish: DrawnWish) -> int:
    if wish.flavour is not Flavour.UNANSWERABLE:
        return 0
    return VERDICTS.index(wish.matter) if wish.matter in VERDICTS else UNKNOWN_VERDICT


def _mark_wish_operations(wish: DrawnWish, corrects: bool) -> NDArray[np.float32]:
    names = {name for change in wish.changes for name in OPERATIONS_BY_KIND[change.kind]}
    if corrects:
        names = {*EXPERT_OPERATIONS, *(names & {"sharpness"})}
    return mark_used(names)


def _signed_amounts(wish: DrawnWish) -> list[float]:
    amounts = [0.0] * len(ATTRIBUTES)
    for intent in wish.intents:
        amounts[ATTRIBUTES[intent.attribute]] = intent.sign * intent.amount**0.5
    return amounts


@dataclass(frozen=True)
class ExpertPair:
    """A photo before and after an expert, as rows of the photos, and requests about it."""

    before: int
    after: int
    own: tuple[str, ...]
    """Requests written for this pair."""
    any: tuple[str, ...]
    """Requests about this photo, for whichever expert."""
    vague: tuple[str, ...]
    """Those of `any` that are vague."""


@dataclass(frozen=True)
class ExpertSampling:
    """How real samples are drawn; shares from 0 to 1."""

    silent: float = 0.2
    """Samples without a request."""
    own: float = 0.7
    """Of the others, those with a request for this pair, not for another expert's."""
    echoed: float = 0.6
    """Requests that are replaced by a paraphrase."""
    vague: float = 0.15
    """Samples with a vague request in literal mode, where the whole edit is the wanted result."""
    dropped: float = 0.0
    """Words that are left out, so that no sentence can be memorized."""
    crop: float = 0.4
    varied: float = 0.5
    """Samples whose input is changed slightly, as by another camera."""
    variation: float = 0.5
    between: float = 0.0
    """Samples whose input is moved towards the expert's picture, or away from it."""


@dataclass(frozen=True)
class ExpertSampler:
    """Real samples, from pairs."""

    pairs: Sequence[ExpertPair]
    chances: ExpertSampling
    same: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Paraphrases, by request."""

    def sample(self, rng: np.random.Generator, count: int) -> Iterator[RetoucherSample]:
        for number in rng.integers(len(self.pairs), size=count) if count else ():
            yield self._make_sample(self.pairs[number], rng)

    def _make_sample(self, pair: ExpertPair, rng: np.random.Generator) -> RetoucherSample:
        vague = rng.random() < self.chances.vague
        return RetoucherSample(
            photo=pair.before,
            target=pair.after,
            text=_draw_vague_request(pair, rng) if vague else self._draw_request(pair, rng),
            mode=LITERAL_MODE if vague else EXPERT_MODE,
            used=mark_used(EXPERT_OPERATIONS),
            strengths=self._draw_variation(rng),
            spoils=True,
            real=True,
            frame=draw_frame(rng, self.chances.crop),
            blend=rng.uniform(*_BLEND_RANGE) if rng.random() < self.chances.between else 0.0,
        )

    def _draw_request(self, pair: ExpertPair, rng: np.random.Generator) -> str:
        if rng.random() < self.chances.silent:
            return ""
        texts = pair.own if rng.random() < self.chances.own else pair.any
        text = texts[rng.integers(len(texts))] if texts else ""
        if (others := self.same.get(text)) and rng.random() < self.chances.echoed:
            text = others[rng.integers(len(others))]
        return " ".join(word for word in text.split() if rng.random() >= self.chances.dropped)

    def _draw_variation(self, rng: np.random.Generator) -> NDArray[np.float64]:
        row = np.zeros(len(COLUMNS))
        if rng.random() < self.chances.varied:
            for name, scale in VARIATION_SCALES.items():
                row[COLUMNS.index(name)] = self.chances.variation * scale * rng.normal()
        return row


def _draw_vague_request(pair: ExpertPair, rng: np.random.Generator) -> str:
    if pair.vague and rng.random() < 0.5:
        return pair.vague[rng.integers(len(pair.vague))]
    return request(DrawnWish(Flavour.VAGUE, mood="better"), rng)


def group_paraphrases(phrases: Phrases) -> dict[str, tuple[str, ...]]:
    """All requests with the same meaning, by each of them."""
    return {text: texts for texts in phrases.asked.values() for text in texts}


def list_expert_pairs(data: PackedSet, numbers: NDArray[np.int64]) -> tuple[ExpertPair, ...]:
    """The samples with these numbers, each with all requests about its photo, for whichever expert."""
    requests: dict[str, dict[str, None]] = {}
    for words in (*data.samples, *data.texts):
        requests.setdefault(photo_id(words.name), {}).update(dict.fromkeys(words.requests))
    return tuple(
        _make_pair(data, number, tuple(requests[photo_id(data.samples[number].name)])) for number in numbers
    )


def _make_pair(data: PackedSet, number: int, requests: tuple[str, ...]) -> ExpertPair:
    sample = data.samples[number]
    vague = tuple(text for text in requests if keywords(text).vague)
    return ExpertPair(sample.before, sample.after, sample.requests, requests, vague)


def photo_id(name: str) -> str:
    """The photo of a sample: `3254_C` is expert C's version of photo 3254 of MIT-FiveK."""
    return name.partition("_")[0]


@dataclass(frozen=True)
class CollatedSamples:
    """A batch of `RetoucherSample` as columns, without pixels.

    The texts are `requests` (N, LONGEST), as rows of the distinct words `pieces` (W, PIECES).
    """

    photo: NDArray[np.int64]
    target: NDArray[np.int64]
    strengths: NDArray[np.float32]
    spoils: NDArray[np.bool_]
    used: NDArray[np.float32]
    asked: NDArray[np.float32]
    verdict: NDArray[np.int64]
    mode: NDArray[np.int64]
    real: NDArray[np.bool_]
    frame: NDArray[np.float32]
    blend: NDArray[np.float32]
    pieces: NDArray[np.int64]
    requests: NDArray[np.int64]


@dataclass(frozen=True)
class RetoucherDataset:
    """Batch number `i` is `dataset[i]`, for torch's DataLoader.

    Of the `sizes`, simulated samples come first, then real ones. Distinct words of a batch beyond `max_words`
    are left out.
    """

    literal: LiteralSampler
    expert: ExpertSampler
    sizes: tuple[int, int]
    max_words: int
    count: int
    seed: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> CollatedSamples:
        if not 0 <= number < self.count:
            raise IndexError(number)
        rng = np.random.default_rng((self.seed, number))
        simulated, real = self.sizes
        samples = [*self.literal.sample(rng, simulated), *self.expert.sample(rng, real)]
        return collate_samples(samples, self.max_words)


def collate_samples(samples: Sequence[RetoucherSample], max_words: int = 0) -> CollatedSamples:
    """Samples as columns, with `max_words` rows of distinct words; 0 for as many as there are."""
    pieces, rows = spelt([sample.text for sample in samples])
    max_words = max_words or len(pieces)
    table = np.zeros((max_words, PIECES), np.int64)
    table[: len(pieces)] = pieces[:max_words]
    requests = np.zeros((len(samples), LONGEST), np.int64)
    requests[:, : rows.shape[1]] = np.where(rows < max_words, rows, 0)
    return CollatedSamples(
        photo=np.array([sample.photo for sample in samples]),
        target=np.array([sample.target for sample in samples]),
        strengths=np.array([sample.strengths for sample in samples], np.float32).reshape(-1, len(COLUMNS)),
        spoils=np.array([sample.spoils for sample in samples]),
        used=np.array([sample.used for sample in samples], np.float32).reshape(-1, len(OPERATION_ORDER)),
        asked=np.array([sample.asked for sample in samples], np.float32).reshape(-1, len(ATTRIBUTES)),
        verdict=np.array([sample.verdict for sample in samples]),
        mode=np.array([sample.mode for sample in samples]),
        real=np.array([sample.real for sample in samples]),
        frame=np.array([sample.frame for sample in samples], np.float32).reshape(-1, 4),
        blend=np.array([sample.blend for sample in samples], np.float32),
        pieces=table,
        requests=requests,
    )


@dataclass(frozen=True)
class RetoucherBatch:
    """A batch with its pictures."""

    requests: RetoucherRequests
    after: Tensor
    """(B, 3, H, W): the wanted results."""
    weight: Tensor
    """(B,): 0 for simulated samples whose pictures do not show the requested change, else 1."""
    used: Tensor
    verdict: Tensor
    asked: Tensor
    real: Tensor


def move_to_device(samples: CollatedSamples, device: torch.device) -> dict[str, Tensor]:
    """The columns of a batch as tensors on the device."""
    return {
        column.name: torch.from_numpy(getattr(samples, column.name)).to(device) for column in fields(samples)
    }


class BatchRenderer:
    """Makes the pictures of a batch, all rows at once, without a transfer to the host.

    `compiled` fuses the arithmetic, which pays on a GPU.
    """

    def __init__(self, photos: Tensor, *, compiled: bool = False) -> None:
        self.photos = photos
        """(P, 3, H, W) uint8."""
        wrap = compile_if(compiled)
        self.stages = [(wrap(_apply_where_asked(edit)), names) for edit, names in STAGES]
        self.weigh = wrap(_weigh_samples)

    @torch.no_grad()
    def render(self, samples: dict[str, Tensor]) -> RetoucherBatch:
        photo, target = self._crop(samples["photo"], samples["target"], samples["frame"])
        photo = torch.lerp(photo, target, samples["blend"][:, None, None, None]).clamp(0, 1)
        edited = self._edit(photo, samples["strengths"])
        spoils = samples["spoils"][:, None, None, None]
        before, after = torch.where(spoils, edited, photo), torch.where(spoils, target, edited)
        unchecked = samples["real"] | (samples["verdict"] != 0)
        weight = torch.where(unchecked, 1.0, self.weigh(before, after, samples["asked"]))
        requests = RetoucherRequests(samples["pieces"], samples["requests"], before, samples["mode"])
        labels = (samples[name] for name in ("used", "verdict", "asked", "real"))
        return RetoucherBatch(requests, after, weight, *labels)

    def _crop(self, photo: Tensor, target: Tensor, frame: Tensor) -> tuple[Tensor, Tensor]:
        both = torch.cat([self.photos[photo], self.photos[target]], 1).float() / 255
        share, x, y, mirror = frame.unbind(-1)
        zero = torch.zeros_like(share)
        across, down = torch.stack([share * mirror, zero, x], -1), torch.stack([zero, share, y], -1)
        grid = functional.affine_grid(torch.stack([across, down], 1), list(both.shape), align_corners=False)
        cropped = functional.grid_sample(both, grid, padding_mode="border", align_corners=False)
        return cropped[:, :3].contiguous(), cropped[:, 3:].contiguous()

    def _edit(self, photos: Tensor, strengths: Tensor) -> Tensor:
        for stage, names in self.stages:
            photos = stage(photos, *(strengths[:, COLUMNS.index(name)] for name in names))
        return photos


def _apply_where_asked(edit: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def run(photos: Tensor, *strengths: Tensor) -> Tensor:
        changed = torch.stack(strengths).abs().amax(0) > 0
        return torch.where(changed[:, None, None, None], edit(photos, *strengths), photos)

    return run


def _weigh_samples(before: Tensor, after: Tensor, asked: Tensor) -> Tensor:
    """(B,): 1 where all requested changes are noticeable and the picture is usable, else 0."""
    first, second = measure_attributes(before), measure_attributes(after)
    change = (second - first) / noticeable_change(before.device)
    noticeable = ((change * asked.sign() > 1) | (asked == 0)).all(-1)
    usable = check_usable(first, second, TRAINING_LIGHTNESS)
    weight: Tensor = (noticeable & usable).float()
    return weight


def noticeable_change(device: torch.device) -> Tensor:
    """(attributes,): the just noticeable change of each."""
    return torch.tensor(JUST_NOTICEABLE, device=device)
