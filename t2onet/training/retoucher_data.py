"""Training samples of the shipped network: simulated and real requests, and their pictures."""

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
from ..data.simulation.wish import ChangeKind, Flavour, Wish
from ..data.simulation.wishes import FLAVOURS, Class, Draw, chosen, classes_of, drawn
from ..language.grams import LONGEST, PIECES, spelt
from ..language.keywords import keywords
from ..metrics.attributes import ATTRIBUTE_INDEX as ATTRIBUTES
from ..metrics.attributes import JUST_NOTICEABLE, measure_attributes
from ..models.retoucher import OPERATION_ORDER, RETOUCHER_MODES

# One thing to learn: a photo, a request and what should come of it, without pixels.

VERDICTS = ("edit", *MATTERS)
"""What a request turns out to be: an edit, or a matter that no operation can answer."""
UNKNOWN_VERDICT = -1
"""The verdict on a request that cannot be answered, where it is not known which matter it is."""
LITERAL_MODE, EXPERT_MODE = RETOUCHER_MODES.index("literal"), RETOUCHER_MODES.index("expert")
EXPERT_OPERATIONS = ("color", "saturation", "tone")
"""Operations with which an expert's picture is approached."""
FULL_FRAME = (1.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class RetoucherSample:
    """`photo` and `target` are rows of the photos; `strengths` an edit of `photo`.

    Where the edit `spoils`, it gives the picture to begin with, and `target` is where to get; else the photo
    itself is to begin with, and the edited one where to get. `asked` are signed roots of the amounts in which
    attributes are asked for, `used` 0 or 1 for each operation. `towards` is how far the picture to begin with
    has been moved to the target beforehand. `frame` is how much of a side is shown, where its middle is moved
    to, in shares of half a side, and -1 if mirrored. `real` items are pairs of photographs, others are
    simulated.
    """

    photo: int
    target: int
    text: str
    manner: int
    used: NDArray[np.float32]
    strengths: NDArray[np.float64]
    spoils: bool = False
    asked: Sequence[float] = (0.0,) * len(ATTRIBUTES)
    verdict: int = 0
    real: bool = False
    frame: tuple[float, float, float, float] = FULL_FRAME
    towards: float = 0.0


def mark_used(names: Sequence[str] | set[str]) -> NDArray[np.float32]:
    """Which operations of the order are among `names`."""
    return np.array([name in names for name in OPERATION_ORDER], np.float32)


def draw_frame(rng: np.random.Generator, crop: float) -> tuple[float, float, float, float]:
    """A frame at random that leaves out up to `crop` of each side, mirrored or not."""
    share = 1 - crop * rng.random()
    x, y = (1 - share) * (2 * rng.random(2) - 1)
    return float(share), float(x), float(y), float(rng.choice((-1.0, 1.0)))


def zero_strengths() -> NDArray[np.float64]:
    """Strengths that change nothing."""
    return np.zeros(len(COLUMNS))


# Simulated items: a wish, said in a sentence, and the edit that fulfils it.

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
"""Share of items that begin with a real request, where there are some."""


@dataclass(frozen=True)
class LiteralSampler:
    """`photos` are rows to draw from, `finished` those of them that leave nothing to mend."""

    photos: NDArray[np.int64]
    finished: NDArray[np.int64]
    echoes: Echoes | None = None

    def items(self, rng: np.random.Generator, count: int) -> Iterator[RetoucherSample]:
        """Classes of attribute and sign come up evenly, among made-up requests and among real ones."""
        phrases = None if self.echoes is None else self.echoes.phrases
        made: Counter[Class] = Counter()
        real: Counter[Class] = Counter()
        for _ in range(count):
            if self.echoes is not None and rng.random() < REAL_REQUEST_SHARE:
                yield self._item(*self.echoes.draw(rng, real), rng)
            else:
                draw = drawn(chosen(FLAVOURS, rng), rng, made)
                made.update(classes_of(draw.wish.intents))
                yield self._item(draw, request(draw.wish, rng, phrases), rng)

    def _item(self, draw: Draw, text: str, rng: np.random.Generator) -> RetoucherSample:
        mends = draw.wish.mood in FAULTS
        row = int(rng.choice(self.finished if mends else self.photos))
        return RetoucherSample(
            photo=row,
            target=row,
            text=text,
            manner=LITERAL_MODE,
            used=_mark_wish_operations(draw.wish, mends),
            strengths=strengths(draw.before or draw.after),
            spoils=bool(draw.before),
            asked=_signed_amounts(draw.wish),
            verdict=_find_verdict(draw.wish),
            frame=draw_frame(rng, 0.0),
        )


def _find_verdict(wish: Wish) -> int:
    if wish.flavour is not Flavour.UNANSWERABLE:
        return 0
    return VERDICTS.index(wish.matter) if wish.matter in VERDICTS else UNKNOWN_VERDICT


def _mark_wish_operations(wish: Wish, mends: bool) -> NDArray[np.float32]:
    names = {name for change in wish.changes for name in OPERATIONS_BY_KIND[change.kind]}
    if mends:
        names = {*EXPERT_OPERATIONS, *(names & {"sharpness"})}
    return mark_used(names)


def _signed_amounts(wish: Wish) -> list[float]:
    signs = [0.0] * len(ATTRIBUTES)
    for intent in wish.intents:
        signs[ATTRIBUTES[intent.attribute]] = intent.sign * intent.amount**0.5
    return signs


# Real items: photos before and after an expert, and what was asked of them.

_BLEND_RANGE = (-0.25, 0.6)
VARIATION_SCALES = {"exposure": 0.5, "contrast": 0.15, "temperature": 10.0, "chroma": 0.15}
"""How far an input may be from itself, one deviation, at a `variation` of 1."""


@dataclass(frozen=True)
class ExpertPair:
    """Rows of the photos; requests of its own; all that was asked of that photo, and what is vague of it."""

    before: int
    after: int
    own: tuple[str, ...]
    any: tuple[str, ...]
    vague: tuple[str, ...]


@dataclass(frozen=True)
class ExpertSampling:
    """How real items come up."""

    silent: float = 0.2
    """Share whose request is dropped."""
    own: float = 0.7
    """Share of the others whose request is their own, not one that was meant for another expert."""
    echoed: float = 0.6
    """Share of requests that are said in the words of somebody who asked for the same."""
    vague: float = 0.15
    """Share that is asked for vaguely, in manner literal: the whole edit is what was meant."""
    dropped: float = 0.0
    """Share of the words that are left out, so that no sentence can be learned by heart."""
    crop: float = 0.4
    varied: float = 0.5
    """Share whose input is changed a little, as another camera would have it."""
    variation: float = 0.5
    between: float = 0.0
    """Share whose input is moved along the way to the expert's picture, or against it."""


@dataclass(frozen=True)
class ExpertSampler:
    """Items from pairs."""

    pairs: Sequence[ExpertPair]
    chances: ExpertSampling
    same: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What others said who asked for the same, by request."""

    def items(self, rng: np.random.Generator, count: int) -> Iterator[RetoucherSample]:
        for number in rng.integers(len(self.pairs), size=count) if count else ():
            yield self._item(self.pairs[number], rng)

    def _item(self, pair: ExpertPair, rng: np.random.Generator) -> RetoucherSample:
        vague = rng.random() < self.chances.vague
        return RetoucherSample(
            photo=pair.before,
            target=pair.after,
            text=_draw_vague_request(pair, rng) if vague else self._said(pair, rng),
            manner=LITERAL_MODE if vague else EXPERT_MODE,
            used=mark_used(EXPERT_OPERATIONS),
            strengths=self._variation(rng),
            spoils=True,
            real=True,
            frame=draw_frame(rng, self.chances.crop),
            towards=rng.uniform(*_BLEND_RANGE) if rng.random() < self.chances.between else 0.0,
        )

    def _said(self, pair: ExpertPair, rng: np.random.Generator) -> str:
        if rng.random() < self.chances.silent:
            return ""
        texts = pair.own if rng.random() < self.chances.own else pair.any
        text = texts[rng.integers(len(texts))] if texts else ""
        if (others := self.same.get(text)) and rng.random() < self.chances.echoed:
            text = others[rng.integers(len(others))]
        return " ".join(word for word in text.split() if rng.random() >= self.chances.dropped)

    def _variation(self, rng: np.random.Generator) -> NDArray[np.float64]:
        row = np.zeros(len(COLUMNS))
        if rng.random() < self.chances.varied:
            for name, scale in VARIATION_SCALES.items():
                row[COLUMNS.index(name)] = self.chances.variation * scale * rng.normal()
        return row


def _draw_vague_request(pair: ExpertPair, rng: np.random.Generator) -> str:
    if pair.vague and rng.random() < 0.5:
        return pair.vague[rng.integers(len(pair.vague))]
    return request(Wish(Flavour.VAGUE, mood="better"), rng)


def group_paraphrases(phrases: Phrases) -> dict[str, tuple[str, ...]]:
    """All requests of one sense, by each of them."""
    return {text: texts for texts in phrases.asked.values() for text in texts}


def list_expert_pairs(data: PackedSet, numbers: NDArray[np.int64]) -> tuple[ExpertPair, ...]:
    """The samples with these numbers, each with all that was asked of its photo, for whichever expert."""
    asked: dict[str, dict[str, None]] = {}
    for words in (*data.samples, *data.texts):
        asked.setdefault(_photo_id(words.name), {}).update(dict.fromkeys(words.requests))
    return tuple(
        _make_pair(data, number, tuple(asked[_photo_id(data.samples[number].name)])) for number in numbers
    )


def _make_pair(data: PackedSet, number: int, asked: tuple[str, ...]) -> ExpertPair:
    sample = data.samples[number]
    vague = tuple(text for text in asked if keywords(text).vague)
    return ExpertPair(sample.before, sample.after, sample.requests, asked, vague)


def _photo_id(name: str) -> str:
    """`3254_C` is expert C's version of photo 3254."""
    return name.partition("_")[0]


# Lessons for the network: what is asked of which photo, drawn in worker processes.
#
# A worker knows no pixels: it draws photos, edits and sentences. Pixels are made where the network is.
# Everything about lesson number `i` follows from the seed and `i`.


@dataclass(frozen=True)
class CollatedSamples:
    """A batch of items as columns, without pixels; see `Item`.

    `pieces` (W, PIECES) and `told` (N, LONGEST) are the requests.
    """

    photo: NDArray[np.int64]
    target: NDArray[np.int64]
    strengths: NDArray[np.float32]
    spoils: NDArray[np.bool_]
    used: NDArray[np.float32]
    asked: NDArray[np.float32]
    verdict: NDArray[np.int64]
    manner: NDArray[np.int64]
    real: NDArray[np.bool_]
    frame: NDArray[np.float32]
    towards: NDArray[np.float32]
    pieces: NDArray[np.int64]
    told: NDArray[np.int64]


@dataclass(frozen=True)
class RetoucherDataset:
    """Lesson number `i` is `lessons[i]`: a dataset for torch's loader, without torch.

    Simulated items come first, then real ones; `room` is how many distinct words a lesson has place for.
    """

    literal: LiteralSampler
    expert: ExpertSampler
    sizes: tuple[int, int]
    room: int
    count: int
    seed: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> CollatedSamples:
        if not 0 <= number < self.count:
            raise IndexError(number)
        rng = np.random.default_rng((self.seed, number))
        simulated, real = self.sizes
        return collate_samples(
            [*self.literal.items(rng, simulated), *self.expert.items(rng, real)], self.room
        )


def collate_samples(items: Sequence[RetoucherSample], room: int = 0) -> CollatedSamples:
    """Items as columns; with `room` for so many distinct words, words beyond are left out."""
    pieces, told = spelt([item.text for item in items])
    room = room or len(pieces)
    table = np.zeros((room, PIECES), np.int64)
    table[: len(pieces)] = pieces[:room]
    words = np.zeros((len(items), LONGEST), np.int64)
    words[:, : told.shape[1]] = np.where(told < room, told, 0)
    return CollatedSamples(
        photo=np.array([item.photo for item in items]),
        target=np.array([item.target for item in items]),
        strengths=np.array([item.strengths for item in items], np.float32).reshape(-1, len(COLUMNS)),
        spoils=np.array([item.spoils for item in items]),
        used=np.array([item.used for item in items], np.float32).reshape(-1, len(OPERATION_ORDER)),
        asked=np.array([item.asked for item in items], np.float32).reshape(-1, len(ATTRIBUTES)),
        verdict=np.array([item.verdict for item in items]),
        manner=np.array([item.manner for item in items]),
        real=np.array([item.real for item in items]),
        frame=np.array([item.frame for item in items], np.float32).reshape(-1, 4),
        towards=np.array([item.towards for item in items], np.float32),
        pieces=table,
        told=words,
    )


# The pixels of a lesson, made where the network is: all rows in one go, nothing asked of the device.

_LIGHTNESS_RANGE, _MIN_CONTRAST = (8.0, 95.0), 4.0
"""Mean L* and least deviation of a picture that is not wrecked."""


@dataclass(frozen=True)
class RetoucherBatch:
    """A lesson with its pictures (B, 3, H, W); `weight` (B,) is 0 for what the pictures do not bear out."""

    before: Tensor
    after: Tensor
    weight: Tensor
    pieces: Tensor
    told: Tensor
    manner: Tensor
    used: Tensor
    verdict: Tensor
    asked: Tensor
    real: Tensor


def move_to_device(lesson: CollatedSamples, device: torch.device) -> dict[str, Tensor]:
    """The columns of a lesson as tensors on the device."""
    return {field.name: torch.from_numpy(getattr(lesson, field.name)).to(device) for field in fields(lesson)}


class BatchRenderer:
    """Makes batches out of lessons; `compiled` fuses the arithmetic, which pays on a GPU."""

    def __init__(self, photos: Tensor, *, compiled: bool = False) -> None:
        self.photos = photos
        """(P, 3, H, W) uint8."""
        make: Callable[..., Callable[..., Tensor]] = torch.compile if compiled else (lambda run: run)
        self.stages = [(make(_apply_where_asked(edit)), names) for edit, names in STAGES]
        self.weights = make(_weigh_samples)

    @torch.no_grad()
    def batch(self, lesson: dict[str, Tensor]) -> RetoucherBatch:
        photo, target = self._framed(lesson["photo"], lesson["target"], lesson["frame"])
        photo = torch.lerp(photo, target, lesson["towards"][:, None, None, None]).clamp(0, 1)
        made = self._edited(photo, lesson["strengths"])
        spoils = lesson["spoils"][:, None, None, None]
        before, after = torch.where(spoils, made, photo), torch.where(spoils, target, made)
        free = lesson["real"] | (lesson["verdict"] != 0)
        weight = torch.where(free, 1.0, self.weights(before, after, lesson["asked"]))
        names = ("pieces", "told", "manner", "used", "verdict", "asked", "real")
        return RetoucherBatch(before, after, weight, *(lesson[name] for name in names))

    def _framed(self, photo: Tensor, target: Tensor, frame: Tensor) -> tuple[Tensor, Tensor]:
        both = torch.cat([self.photos[photo], self.photos[target]], 1).float() / 255
        share, x, y, mirror = frame.unbind(-1)
        zero = torch.zeros_like(share)
        across, down = torch.stack([share * mirror, zero, x], -1), torch.stack([zero, share, y], -1)
        grid = functional.affine_grid(torch.stack([across, down], 1), list(both.shape), align_corners=False)
        shown = functional.grid_sample(both, grid, padding_mode="border", align_corners=False)
        return shown[:, :3].contiguous(), shown[:, 3:].contiguous()

    def _edited(self, photos: Tensor, strengths: Tensor) -> Tensor:
        for stage, names in self.stages:
            photos = stage(photos, *(strengths[:, COLUMNS.index(name)] for name in names))
        return photos


def _apply_where_asked(edit: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def run(photos: Tensor, *strengths: Tensor) -> Tensor:
        wanted = torch.stack(strengths).abs().amax(0) > 0
        return torch.where(wanted[:, None, None, None], edit(photos, *strengths), photos)

    return run


def _weigh_samples(before: Tensor, after: Tensor, asked: Tensor) -> Tensor:
    """1 where all that was asked for can be seen and the picture is not wrecked, else 0."""
    first, second = measure_attributes(before), measure_attributes(after)
    change = (second - first) / torch.tensor(JUST_NOTICEABLE, device=before.device)
    seen = ((change * asked.sign() > 1) | (asked == 0)).all(-1)
    (low, high), light, spread = _LIGHTNESS_RANGE, second[:, 0], second[:, 1]
    sound = (light > torch.clamp(first[:, 0] - 0.5, max=low)) & (
        light < torch.clamp(first[:, 0] + 0.5, min=high)
    )
    sound = sound & (spread > torch.clamp(first[:, 1] - 0.5, max=_MIN_CONTRAST))
    borne_out: Tensor = (seen & sound).float()
    return borne_out
