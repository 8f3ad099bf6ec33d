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
    """A sentence as numbers: its pieces, labels of the slots at heads, pairs that belong, and what is known of it.

    `attributes` are the changes it asks for where its words are not marked.
    """

    pieces: list[int]
    owners: list[int]
    slots: dict[int, dict[str, int]] = field(default_factory=dict)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    looks: dict[int, int] = field(default_factory=dict)
    attributes: list[int] | None = None


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
    sample = Sample(pieces, owners)

    def find(span: tuple[int, int]) -> list[int]:
        return [
            first[number]
            for number, word in enumerate(words)
            if number in first and word.start < span[1] and word.end > span[0] and word.text[0].isalnum() | (word.text[0] in "+-−%&/")
        ]

    for marked in sentence.wishes:
        heads = find(marked.head) if marked.head else []
        if not heads or heads[0] in sample.slots:
            continue
        head = heads[0]
        sample.slots[head] = label_wish(marked.wish)
        if marked.look:
            sample.looks[head] = LOOKS.index(marked.look)
        members = {head, *heads, *(at for span in marked.spans for at in find(span))}
        sample.pairs += [(at, head) for at in members]
    return sample


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
                label_wish(wish)
                numbers = [int(one) for one in indices.replace(" ", "").split(",")]
                marked = MarkedWish(wish, head=spans[numbers[0]], spans=[spans[number] for number in numbers[1:]])
                sentence.wishes.append(marked)
            found[digest] = sentence
        except (ValueError, KeyError, IndexError) as error:
            print("skipped", line[:100], repr(error))
    return found


def collate(samples: Sequence[Sample], device: str) -> dict[str, Tensor]:
    length = -(-max(len(sample.pieces) for sample in samples) // 8) * 8
    size = len(samples)
    pieces = torch.zeros(size, length, dtype=torch.long)
    labels = {name: torch.full((size, length), IGNORED) for name in SLOTS}
    belongs = torch.full((size, length, length), -1.0)
    looks = torch.full((size, length), IGNORED)
    attributes = torch.full((size, 12), -1.0)
    for row, sample in enumerate(samples):
        count = len(sample.pieces)
        pieces[row, :count] = torch.tensor(sample.pieces)
        if sample.attributes is not None:
            attributes[row] = 0
            attributes[row, sample.attributes] = 1
            continue
        starts = [at for at in range(count) if sample.owners[at] >= 0 and sample.owners[at] != sample.owners[at - 1]]
        labels["what"][row, starts] = 0
        for head, slots in sample.slots.items():
            for name, value in slots.items():
                labels[name][row, head] = value
            belongs[row, starts, head] = 0
        for member, head in sample.pairs:
            belongs[row, member, head] = 1
        for head, look in sample.looks.items():
            looks[row, head] = look
    batch = {"pieces": pieces, "belongs": belongs, "looks": looks, "attributes": attributes, **labels}
    return {name: value.to(device, non_blocking=True) for name, value in batch.items()}


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
    changes = {number_attribute(*one) for wish in asked for one in get_attributes(wish.what, wish.direction, wish.where, wish.hue)}
    changes -= {one for one in changes if one ^ 1 in changes}
    return frozenset(changes), any(wish.what in (*CHANGES, *STYLES) for wish in asked)


def measure(network: ReaderNetwork, samples: Sequence[Sample], judged: Sequence[dict[str, object]], device: str, bias: float = 0.0) -> dict[str, float]:
    """How well the known changes of requests are read."""
    network.eval()
    exact = total = declined = answerable = refused = unanswerable = 0
    hits, counts = [0] * 12, [0] * 12
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
                if wanted or truth["vague"]:
                    answerable += 1
                    declined += not doable
                elif truth["matter"]:
                    unanswerable += 1
                    refused += not doable
    recalls = [hit / count for hit, count in zip(hits, counts, strict=True) if count >= 3]
    return {
        "exact": exact / max(total, 1),
        "recall": sum(recalls) / max(len(recalls), 1),
        "least": min(recalls, default=0.0),
        "declined": declined / max(answerable, 1),
        "refused": refused / max(unanswerable, 1),
        "n": total,
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
    marked = [make_sample(marks[one["digest"]], vocabulary) for one in data if one["digest"] in marks and one["digest"][0] != "0"]
    weak: list[Sample] = []
    held: list[Sample] = []
    truths: list[dict[str, object]] = []
    for one in data:
        sample = make_sample(MarkedSentence(one["text"]), vocabulary)
        if one["digest"][0] == "0":
            held.append(sample)
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
        sources = [simulated, marked, weak]
        start = time.time()
        for step in range(steps):
            network.train()
            chosen = [sample for source, count in zip(sources, mix, strict=True) for sample in rng.sample(source, min(count, len(source)))]
            batch = collate(chosen, device)
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                outputs = network(batch["pieces"])
            losses = compute_loss(outputs, batch, prototypes, maps, options.get("weak", 0.5))
            optimizer.zero_grad(set_to_none=True)
            torch.stack(list(losses.values())).sum().backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            if step % 500 == 499 or step == steps - 1:
                print(number, step + 1, f"{time.time() - start:.0f} s", {k: round(float(v), 3) for k, v in losses.items()}, flush=True)
        for bias in (-1.0, 0.0):
            print(number, options, bias, {k: round(v, 4) for k, v in measure(network, held, truths, device, bias).items()}, flush=True)
        state = {name: value.detach().half().cpu().contiguous() for name, value in network.state_dict().items()}
        state["prototypes"] = functional.normalize(prototypes.detach().float(), dim=-1).half().cpu()
        if options.get("save"):
            halves = sorted(state)
            save_file({name: state[name] for name in halves if name != "pieces.weight"}, out / f"{options['save']}-rest.safetensors")
            save_file({"pieces.weight": state["pieces.weight"]}, out / f"{options['save']}-pieces.safetensors")


if __name__ == "__main__":
    main()
