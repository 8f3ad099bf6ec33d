"""Train the reader on simulated sentences, marked requests, and requests whose changes alone are known."""

from __future__ import annotations

import json
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ..data.sentences import MarkedSentence, MarkedWish, SentenceMaker, load_phrases
from ..language.wishes import (
    CHANGES,
    HUES,
    IMPOSSIBLE,
    PLACES,
    RANGES,
    STYLES,
    WHOLE,
    WHATS,
    WHERES,
    Amount,
    Direction,
    Role,
    Wish,
    get_attributes,
)
from ..language.wordpiece import encode_words, split_words
from ..metrics.attributes import ATTRIBUTE_INDEX
from ..models.reader import SLOTS, ReaderNetwork, load_pretrained

IGNORED = -100
MAX_LENGTH = 96


@dataclass
class Sample:
    """A sentence as numbers: its pieces, the labels of each slot (6, T), what belongs to which head (T, T), looks (T,).

    `attributes` are the changes it asks for where its words are not marked.
    """

    pieces: np.ndarray
    owners: list[int]
    labels: np.ndarray
    belongs: np.ndarray
    looks: np.ndarray
    attributes: list[int] | None = None
    weight: float = 1.0


LOOKS = list(load_phrases("looks")["looks"])


def number_attribute(attribute: object, sign: int) -> int:
    return 2 * ATTRIBUTE_INDEX[attribute] + (sign < 0)  # type: ignore[index]


def label_wish(wish: Wish) -> dict[str, int]:
    """The classes of a wish in each slot."""
    return {
        "what": WHATS.index(wish.what) + 1,
        "direction": list(Direction).index(wish.direction),
        "amount": list(Amount).index(wish.amount),
        "role": list(Role).index(wish.role),
        "where": WHERES.index(wish.where),
        "hue": HUES.index(wish.hue) + 1 if wish.hue else 0,
    }


def make_sample(sentence: MarkedSentence, vocabulary: dict[str, int]) -> Sample:
    """Labels of a sentence whose wishes are marked."""
    words = split_words(sentence.text)
    pieces, owners = encode_words(words, vocabulary)
    pieces, owners = pieces[:MAX_LENGTH], owners[:MAX_LENGTH]
    first = {owner: at for at, owner in reversed(list(enumerate(owners))) if owner >= 0}
    length = len(pieces)
    starts = sorted(first.values())
    labels = np.full((len(SLOTS), length), IGNORED, np.int16)
    labels[0, starts] = 0
    belongs = np.full((length, length), -1, np.int8)
    looks = np.full(length, IGNORED, np.int16)

    def find(span: tuple[int, int]) -> list[int]:
        return [
            first[number]
            for number, word in enumerate(words)
            if number in first and word.start < span[1] and word.end > span[0] and word.text[0].isalnum() | (word.text[0] in "+-−%&/")
        ]

    for marked in sentence.wishes:
        heads = find(marked.head) if marked.head else []
        if not heads or labels[0, heads[0]]:
            continue
        head = heads[0]
        labels[:, head] = list(label_wish(marked.wish).values())
        if marked.look:
            looks[head] = LOOKS.index(marked.look)
        belongs[starts, head] = 0
        belongs[sorted({*heads, *(at for span in marked.spans for at in find(span))}), head] = 1
    return Sample(np.array(pieces, np.int32), owners, labels, belongs, looks)


def read_marks(path: Path, texts: dict[str, str]) -> dict[str, MarkedSentence]:
    """Marked requests: lines `digest ; what direction [amount] [where=] [hue=] [role=] @head,words ; ...`."""
    directions = {"+": Direction.UP, "-": Direction.DOWN, "=": Direction.FIX, ".": Direction.NONE}
    found: dict[str, MarkedSentence] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        digest, *parts = [part.strip() for part in line.rstrip("! ").split(";")]
        if digest not in texts:
            continue
        sentence = MarkedSentence(texts[digest])
        spans, at = [], 0
        for word in sentence.text.split():
            at = sentence.text.index(word, at)
            spans.append((at, at + len(word)))
            at += len(word)
        try:
            for part in filter(None, parts):
                head, _, indices = part.partition("@")
                what, direction, *rest = head.split()
                named = dict(one.split("=") for one in rest if "=" in one)
                amount = next((one for one in rest if one in ("little", "much")), "plain")
                wish = Wish(
                    what, directions[direction], Amount(amount), named.get("where", "whole"), named.get("hue", ""),
                    Role(named.get("role", "ask")),
                )  # fmt: skip
                if what == "look" and direction == "-":
                    wish = Wish("cast", Direction.DOWN, wish.amount, wish.where, "orange", wish.role)
                label_wish(wish)
                numbers = [int(one) for one in indices.replace(" ", "").split(",")]
                marked = MarkedWish(wish, head=spans[numbers[0]], spans=[spans[number] for number in numbers[1:]])
                sentence.wishes.append(marked)
            found[digest] = sentence
        except (ValueError, KeyError, IndexError) as error:
            print("skipped", line[:100], repr(error))
    return found


def drop_unknown_changes(sentence: MarkedSentence, known: set[int]) -> None:
    """Leave out loose words such as "dull" where the earlier reading of the sentence has other changes alone."""
    if known:
        sentence.wishes = [
            marked
            for marked in sentence.wishes
            if marked.wish.what not in ("punch", "haze", "fade", "tint")
            or marked.wish.role is not Role.ASK
            or marked.wish.where != WHOLE
            or not (implied := {number_attribute(*one) for one in get_attributes(marked.wish.what, marked.wish.direction)})
            or implied & known
        ]


def collate(samples: Sequence[Sample], device: str) -> dict[str, Tensor]:
    """A batch, padded to the longest sentence."""
    length = -(-max(len(sample.pieces) for sample in samples) // 8) * 8
    size = len(samples)
    pieces = np.zeros((size, length), np.int64)
    labels = np.full((len(SLOTS), size, length), IGNORED, np.int64)
    belongs = np.full((size, length, length), -1, np.int8)
    looks = np.full((size, length), IGNORED, np.int64)
    attributes = np.full((size, 12), -1, np.float32)
    for row, sample in enumerate(samples):
        count = len(sample.pieces)
        pieces[row, :count] = sample.pieces
        if sample.attributes is not None:
            attributes[row] = 0
            attributes[row, sample.attributes] = 1
            continue
        labels[:, row, :count] = sample.labels
        belongs[row, :count, :count] = sample.belongs
        looks[row, :count] = sample.looks
    batch = {"pieces": pieces, "looks": looks, "attributes": attributes, **dict(zip(SLOTS, labels, strict=True))}
    moved = {name: torch.from_numpy(value).to(device, non_blocking=True) for name, value in batch.items()}
    return {**moved, "belongs": torch.from_numpy(belongs).to(device).float()}


def make_attribute_maps(device: str) -> tuple[Tensor, Tensor]:
    """Which changes of attributes each kind of wish (what, direction) and each cast (direction, hue) asks for."""
    plain = torch.zeros(SLOTS["what"], SLOTS["direction"], 12)
    casts = torch.zeros(SLOTS["direction"], SLOTS["hue"], 12)
    for d, direction in enumerate(Direction):
        for what in CHANGES:
            for attribute, sign in get_attributes(what, direction):
                plain[WHATS.index(what) + 1, d, number_attribute(attribute, sign)] = 1
        for hue in HUES:
            for attribute, sign in get_attributes("cast", direction, hue=hue):
                casts[d, HUES.index(hue) + 1, number_attribute(attribute, sign)] = 1
    return plain.to(device), casts.to(device)


def compute_attribute_loss(outputs: dict[str, Tensor], batch: dict[str, Tensor], maps: tuple[Tensor, Tensor]) -> Tensor:
    """How unlikely the known changes of whole sentences are: a change is asked for if any piece asks for it."""
    plain, casts = maps
    rows = batch["attributes"][:, 0] >= 0
    if not rows.any():
        return outputs["what"].new_zeros(())
    chance = {name: outputs[name][rows].float().softmax(-1) for name in SLOTS}
    role = chance["role"][..., list(Role).index(Role.ASK)]
    ranges = [WHERES.index(one) for one in RANGES]
    in_range = chance["where"][..., ranges]
    place = chance["where"][..., [WHERES.index(one) for one in PLACES]].sum(-1)
    what = chance["what"].clone()
    colour = what[..., WHATS.index("colour") + 1].clone()
    what[..., WHATS.index("colour") + 1] = colour * (1 - in_range.sum(-1))
    tokens = torch.einsum("btw,btd,wda->bta", what, chance["direction"], plain)
    tokens = tokens + torch.einsum("bt,btd,bth,dha->bta", what[..., WHATS.index("cast") + 1], chance["direction"], chance["hue"], casts)
    tokens = tokens + torch.einsum("bt,btd,btr,dra->bta", colour, chance["direction"], in_range, casts[:, 1:])
    inside = (batch["pieces"][rows] > 3).float() * role * (1 - place)
    tokens = (tokens * inside[..., None]).clamp(0, 0.999)
    log_none = torch.log1p(-tokens).sum(1)
    target = batch["attributes"][rows]
    log_some = torch.log(-torch.expm1(log_none.clamp(max=-1e-6)))
    return -(target * log_some + (1 - target) * log_none).sum(-1).mean()


def compute_loss(
    outputs: dict[str, Tensor], batch: dict[str, Tensor], prototypes: Tensor, maps: tuple[Tensor, Tensor], weak: float
) -> dict[str, Tensor]:
    losses: dict[str, Tensor] = {}
    weights = {"what": 1.0, "direction": 1.0, "amount": 0.5, "role": 0.7, "where": 0.7, "hue": 0.7}
    for name, weight in weights.items():
        logits = outputs[name].float().flatten(0, 1)
        losses[name] = weight * functional.cross_entropy(
            logits, batch[name].flatten(), ignore_index=IGNORED, label_smoothing=0.02 if name == "what" else 0.0,
            reduction="sum" if name == "what" else "mean",
        )  # fmt: skip
    heads = (batch["what"] > 0).sum().clamp(min=1)
    losses["what"] = losses["what"] / heads
    known = batch["belongs"] >= 0
    losses["belongs"] = functional.binary_cross_entropy_with_logits(outputs["belongs"].float()[known], batch["belongs"][known])
    marked = batch["looks"] >= 0
    if marked.any():
        scores = 12 * outputs["look"].float()[marked] @ functional.normalize(prototypes.float(), dim=-1).T
        losses["look"] = 0.3 * functional.cross_entropy(scores, batch["looks"][marked])
    losses["weak"] = weak * compute_attribute_loss(outputs, batch, maps)
    return losses


def decode(outputs: dict[str, Tensor], row: int, sample: Sample, bias: float = 0.0) -> list[tuple[Wish, int]]:
    """The wishes of one sentence, each with the piece of its head."""
    found: dict[tuple[object, ...], tuple[Wish, int]] = {}
    what = outputs["what"][row].float().clone()
    what[:, 0] += bias
    best = what.argmax(-1)
    for at in range(1, len(sample.pieces) - 1):
        if sample.owners[at] == sample.owners[at - 1] or not best[at]:
            continue
        choice = {name: int(outputs[name][row, at].argmax()) for name in SLOTS}
        name = WHATS[int(best[at]) - 1]
        hue = HUES[choice["hue"] - 1] if choice["hue"] and name in ("cast", "recolour") else ""
        wish = Wish(
            name, list(Direction)[choice["direction"]], list(Amount)[choice["amount"]], WHERES[choice["where"]], hue,
            list(Role)[choice["role"]],
        )  # fmt: skip
        found.setdefault((wish.what, wish.direction, wish.where, wish.hue, wish.role), (wish, at))
    return list(found.values())


def conclude(wishes: Sequence[Wish]) -> tuple[frozenset[int], bool]:
    """The changes that are asked for, and whether anything can be done."""
    asked = [wish for wish in wishes if wish.role is Role.ASK and wish.where not in PLACES]
    whole = {wish.what for wish in asked if wish.where == WHOLE}
    asked = [wish for wish in asked if wish.where == WHOLE or wish.what not in whole]
    changes = {number_attribute(*one) for wish in asked for one in get_attributes(wish.what, wish.direction, wish.where, wish.hue)}
    changes -= {one for one in changes if one ^ 1 in changes}
    return frozenset(changes), any(wish.what in (*CHANGES, *STYLES) for wish in asked)


def describe(wishes: Sequence[Wish]) -> str:
    return "; ".join(f"{w.what} {w.direction} {w.amount} {w.where} {w.hue} {w.role}" for w in wishes)


def measure(network: ReaderNetwork, samples: Sequence[Sample], judged: Sequence[dict[str, object]], device: str, bias: float = 0.0, report: Path | None = None) -> dict[str, float]:
    """How well the known changes of requests are read."""
    network.eval()
    exact = total = declined = answerable = refused = unanswerable = 0
    hits, counts = [0] * 12, [0] * 12
    errors: list[str] = []
    with torch.no_grad():
        for start in range(0, len(samples), 256):
            part = samples[start : start + 256]
            outputs = {k: v.cpu() for k, v in network(collate(part, device)["pieces"]).items()}
            for row, sample in enumerate(part):
                truth = judged[start + row]
                wishes = [wish for wish, _ in decode(outputs, row, sample, bias)]
                changes, doable = conclude(wishes)
                wanted = frozenset(truth["attributes"])  # type: ignore[arg-type]
                if wanted:
                    total += 1
                    exact += changes == wanted
                    for one in wanted:
                        counts[one] += 1
                        hits[one] += one in changes
                if wanted or truth["vague"] or truth.get("doable"):
                    answerable += 1
                    declined += not doable
                    if not doable:
                        errors.append(f"DECLINED {truth['text']} {describe(wishes)}")
                elif truth["matter"]:
                    unanswerable += 1
                    refused += not doable
                    if doable:
                        errors.append(f"ANSWERED {truth['text']} [{truth['matter']}] {describe(wishes)}")
                if wanted and changes != wanted:
                    errors.append(f"{truth['text']} wanted {sorted(wanted)} got {sorted(changes)} {describe(wishes)}")
    if report is not None:
        report.write_text("\n".join(errors), encoding="utf-8")
    recalls = [hit / count for hit, count in zip(hits, counts, strict=True) if count >= 3]
    return {
        "exact": exact / max(total, 1),
        "recall": sum(recalls) / max(len(recalls), 1),
        "least": min(recalls, default=0.0),
        "declined": declined / max(answerable, 1),
        "refused": refused / max(unanswerable, 1),
        "n": total,
        **{f"recall {number}": hit / max(count, 1) for number, (hit, count) in enumerate(zip(hits, counts, strict=True))},
    }


def draw_simulated(seed: int, count: int, vocabulary: dict[str, int]) -> list[Sample]:
    maker = SentenceMaker(seed)
    return [make_sample(maker.draw(), vocabulary) for _ in range(count)]


def main() -> None:
    """Pilot: a table of configurations, side by side."""
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    from concurrent.futures import ProcessPoolExecutor

    from safetensors.torch import load_file, save_file

    pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")[:-1]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    data = json.loads((folder / "requests.json").read_text(encoding="utf-8"))
    texts = {one["digest"]: one["text"] for one in data}
    marks: dict[str, MarkedSentence] = {}
    for path in sorted((folder / "marks").glob("*.txt")):
        marks |= read_marks(path, texts)
    for one in data:
        if one["digest"] in marks:
            drop_unknown_changes(marks[one["digest"]], set(one["attributes"]))
    marked = [make_sample(marks[one["digest"]], vocabulary) for one in data if one["digest"] in marks and one["digest"][0] != "0"]
    counts = np.zeros(12)
    known = {one["digest"]: one["attributes"] for one in data}
    digests = [one["digest"] for one in data if one["digest"] in marks and one["digest"][0] != "0"]
    for digest in digests:
        counts[known[digest]] += 1
    for digest, sample in zip(digests, marked, strict=True):
        sample.weight = float(max([1.0, *np.sqrt(counts.max() / counts[known[digest]]).tolist()]) ** 0.7)
    weak: list[Sample] = []
    held: list[Sample] = []
    truths: list[dict[str, object]] = []
    for one in data:
        sample = make_sample(MarkedSentence(one["text"]), vocabulary)
        if one["digest"][0] == "0":
            held.append(sample)
            if one["digest"] in marks and not one["attributes"] and not one["vague"]:
                one = {**one, "matter": "marked", "doable": conclude([marked.wish for marked in marks[one["digest"]].wishes])[1]}
            truths.append(one)
        elif one["digest"] not in marks and (one["attributes"] or one["matter"]):
            sample.attributes = one["attributes"]
            weak.append(sample)
    jobs = int(sys.argv[4]) if len(sys.argv) > 4 else 48
    start = time.time()
    with ProcessPoolExecutor(15) as pool:
        parts = pool.map(draw_simulated, range(100, 100 + jobs), [8000] * jobs, [vocabulary] * jobs)
        simulated = [sample for part in parts for sample in part]
    print(f"{len(marked)} marked, {len(weak)} weak, {len(held)} held back, {len(simulated)} simulated, {time.time() - start:.0f} s", flush=True)
    encoder = load_file(folder / "encoder.safetensors")
    configurations = json.loads(sys.argv[3])
    for number, options in enumerate(configurations):
        torch.manual_seed(options.get("seed", 0))
        rng = random.Random(options.get("seed", 0))
        network = ReaderNetwork(len(pieces))
        load_pretrained(network, encoder)
        network.to(device)
        prototypes = torch.nn.Parameter(torch.randn(len(LOOKS), 96, device=device))
        steps, rate = options.get("steps", 2500), options.get("rate", 1e-4)
        fast = [parameter for name, parameter in network.named_parameters() if name.split(".")[0] in ("slots", "member", "owner", "look")]
        slow = [parameter for name, parameter in network.named_parameters() if name.split(".")[0] not in ("slots", "member", "owner", "look")]
        optimizer = torch.optim.AdamW([{"params": slow, "lr": rate}, {"params": [*fast, prototypes], "lr": 10 * rate}], weight_decay=0.01)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, step / 100) * (0.5 + 0.5 * math.cos(math.pi * step / steps)))  # noqa: B023
        maps = make_attribute_maps(device)
        mix = options.get("mix", [96, 64, 64])
        sources = [(source, np.cumsum([sample.weight for sample in source]).tolist()) for source in (simulated, marked, weak)]
        decay = options.get("decay", 0.998)
        average = {name: value.clone() for name, value in network.state_dict().items()}
        start = time.time()
        for step in range(steps):
            network.train()
            chosen = [sample for source, count in zip(sources, mix, strict=True) if count for sample in rng.choices(source[0], cum_weights=source[1], k=count)]
            batch = collate(chosen, device)
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                outputs = network(batch["pieces"])
            losses = compute_loss(outputs, batch, prototypes, maps, options.get("weak", 0.5))
            optimizer.zero_grad(set_to_none=True)
            torch.stack(list(losses.values())).sum().backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            if step >= steps // 4:
                with torch.no_grad():
                    for name, value in network.state_dict().items():
                        average[name].lerp_(value, 1 - decay) if step > steps // 4 else average[name].copy_(value)
            if step % 500 == 499 or step == steps - 1:
                print(number, step + 1, f"{time.time() - start:.0f} s", {k: round(v.item(), 3) for k, v in losses.items()}, flush=True)
        network.load_state_dict(average)
        for bias in (-1.0, 0.0):
            report = out / f"errors-{options.get('save', number)}.txt" if not bias and options.get("save") else None
            figures = measure(network, held, truths, device, bias, report)
            print(json.dumps(options), bias, {k: round(v, 4) for k, v in figures.items()}, flush=True)
        state = {name: value.detach().half().cpu().contiguous() for name, value in network.state_dict().items()}
        state["prototypes"] = functional.normalize(prototypes.detach().float(), dim=-1).half().cpu()
        if options.get("save"):
            parts = {"pieces": ("pieces", "positions", "norm", "slots", "member", "owner", "look", "prototypes"), "low": ("layers.0", "layers.1", "layers.2"), "high": ("layers.3", "layers.4", "layers.5")}
            for part, starts in parts.items():
                chosen_state = {name: value for name, value in state.items() if name.startswith(starts)}
                save_file(chosen_state, out / f"{options['save']}-{part}.safetensors")


if __name__ == "__main__":
    main()
