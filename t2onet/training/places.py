"""Train the place network: pack photos and masks where the data is, train, export.

`python -m t2onet.training places pack DATA TEACHERS MARKS FOLDER`, `places train FOLDER OUT`, then
`places export OUT places.onnx`. DATA has ma5k-req and coco-panoptic. TEACHERS has masks that other networks
made of these photos, as PNG named like the photo in a folder for each place (`subject/0042.png`). MARKS says
what a person saw: {"person": {"0042": true}}. Training goes in two runs: first on the FiveK photos, then,
`--from` the first, on these and COCO. With --fold a fifth of COCO is held back and measured.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

from ..data.place_labels import FULL, LEAST_SEEN, UNKNOWN, PlaceSet, pack_places
from ..inference import CHANNELS
from ..models.places import FROZEN, PlaceNetwork, export_places, load_pretrained
from .reader_run import print_line

WEIGHTS_FILE = "places.safetensors"
KEEP = 0.995
"""Of the average of the weights, at each step."""
PRESENCE_WEIGHT = 0.1
ENCODER_RATE = 0.25
"""How fast the pretrained encoder learns, relative to what is new."""
PLACE_WEIGHTS = torch.tensor([2.0 if name == "subject" else 1.0 for name in CHANNELS])
"""Of each place in the loss of masks; the subject, which depends on the whole photo, is the hardest."""
CLOSE_UPS = 0.25
"""Share of photos of which a small part is seen. What its subject is the teacher's mask does not say."""


def pack(data: Path, teachers: Path, marks: Path, folder: Path) -> None:
    """Write photos and masks as small arrays."""
    print_line(f"{pack_places(data, teachers, marks, folder)} photos -> {folder}")


class PlaceBatches:
    """Draws batches of changed photos: cropped, turned a little, mirrored, in other light."""

    def __init__(self, places: PlaceSet, rows: list[int], coco: list[int], share: float, seed: int) -> None:
        self._places = places
        self._sources = [(rows, 1 - share if rows else 0.0), (coco, share if coco else 0.0)]
        self._random = np.random.default_rng(seed)
        self._queues: list[list[int]] = [[], []]

    def draw(self, size: int, side: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Photos (B, 3, side, side), masks and where they are known (B, C, side/2, side/2), presence."""
        total = sum(share for _, share in self._sources)
        chosen: list[int] = []
        for number, (rows, share) in enumerate(self._sources):
            count = size - len(chosen) if number else round(size * share / total)
            chosen += [self._next(number, rows) for _ in range(count if rows else 0)]
        photos = torch.from_numpy(self._places.photos[chosen]).permute(0, 3, 1, 2).float() / 255
        levels = torch.from_numpy(self._places.masks[chosen])
        known = (levels != UNKNOWN).float()
        masks = (levels.float() / FULL).clamp(0, 1)
        close = self._random.uniform(size=len(chosen)) < CLOSE_UPS
        maps = self._draw_maps(close)
        known[torch.from_numpy(close), CHANNELS.index("subject")] = 0
        photos = _warp(photos, maps, side)
        masks, known = _warp(masks * known, maps, side // 2), _warp(known, maps, side // 2)
        known = (known > 0.99).float()
        presence = torch.from_numpy(self._places.presence[chosen]).float()
        visible = (masks * known).mean((2, 3)) >= LEAST_SEEN
        presence = torch.where((presence == 1) & ~visible, -1.0, presence)
        return self._relight(photos), masks * known, known, presence

    def _next(self, number: int, rows: list[int]) -> int:
        if not self._queues[number]:
            self._queues[number] = self._random.permutation(rows).tolist()
        return self._queues[number].pop()

    def _draw_maps(self, close: np.ndarray) -> Tensor:
        """(B, 2, 3): from places of the changed photo to places of the photo."""
        draw, count = self._random.uniform, len(close)
        scale = np.where(close[:, None], draw(0.45, 0.8, (count, 1)), draw(0.85, 1.1, (count, 1)))
        scale = np.minimum(scale * np.exp(draw(-0.15, 0.15, (count, 2))), 1.15)
        shift = draw(-1, 1, (count, 2)) * np.maximum(1 - scale, 0)
        turn = draw(-0.12, 0.12, count)
        mirror = np.where(draw(size=count) < 0.5, -1.0, 1.0)
        maps = np.zeros((count, 2, 3), np.float32)
        maps[:, 0, 0], maps[:, 0, 1] = scale[:, 0] * np.cos(turn) * mirror, -scale[:, 0] * np.sin(turn)
        maps[:, 1, 0], maps[:, 1, 1] = scale[:, 1] * np.sin(turn) * mirror, scale[:, 1] * np.cos(turn)
        maps[:, :, 2] = shift
        return torch.from_numpy(maps)

    def _relight(self, photos: Tensor) -> Tensor:
        """Other exposure, white balance, contrast and saturation; some grey, blurred or with noise."""
        draw, count = self._random.uniform, len(photos)

        def numbers(low: float, high: float, channels: int = 1) -> Tensor:
            return torch.from_numpy(draw(low, high, (count, channels, 1, 1)).astype(np.float32))

        photos = photos.clamp(1e-3, 1) ** numbers(0.65, 1.4) * numbers(0.75, 1.35) * numbers(0.88, 1.12, 3)
        mean = photos.mean((2, 3), keepdim=True)
        photos = mean + (photos - mean) * numbers(0.75, 1.25)
        grey = photos.mean(1, keepdim=True)
        photos = grey + (photos - grey) * numbers(0.4, 1.5) * (numbers(0, 1) > 0.06)
        blurred = functional.avg_pool2d(photos, 3, 1, 1, count_include_pad=False)
        photos = torch.where(numbers(0, 1) < 0.15, blurred, photos)
        noise = torch.randn_like(photos) * numbers(0, 0.04) * (numbers(0, 1) < 0.3)
        return (photos + noise).clamp(0, 1)


def _warp(planes: Tensor, maps: Tensor, side: int) -> Tensor:
    grid = functional.affine_grid(maps, [len(planes), planes.shape[1], side, side], align_corners=False)
    return functional.grid_sample(planes, grid, padding_mode="reflection", align_corners=False)


def measure_loss(
    logits: Tensor, scores: Tensor, masks: Tensor, known: Tensor, presence: Tensor
) -> dict[str, Tensor]:
    """Cross entropy and overlap of masks where they are known, cross entropy of presence."""
    count = known.sum((0, 2, 3))
    entropy = functional.binary_cross_entropy_with_logits(logits, masks, reduction="none") * known
    by_place = entropy.sum((0, 2, 3)) / count.clamp(min=1)
    chance = logits.sigmoid() * known
    common, total = (chance * masks).sum((2, 3)), (chance + masks).sum((2, 3))
    shown = (masks.mean((2, 3)) >= LEAST_SEEN) * PLACE_WEIGHTS
    missed = 1 - (common + 1) / (total - common + 1)
    weights = (count > 0) * PLACE_WEIGHTS
    given = (presence >= 0).float()
    seen = functional.binary_cross_entropy_with_logits(scores, presence.clamp(min=0), reduction="none")
    return {
        "entropy": (by_place * weights).sum() / weights.sum(),
        "overlap": (missed * shown).sum() / shown.sum().clamp(min=1),
        "presence": PRESENCE_WEIGHT * (seen * given).sum() / given.sum().clamp(min=1),
    }


def train(
    folder: Path,
    out: Path,
    *,
    start: Path | None,
    fold: int | None,
    without: list[str],
    coco_share: float,
    steps: int,
    batch: int,
    side: int,
    rate: float,
    seed: int,
    threads: int,
) -> None:
    """Train, save the average of the weights, and print how well the photos held back are known."""
    if threads:
        torch.set_num_threads(threads)
    torch.manual_seed(seed)
    places = PlaceSet.load(folder)
    rows = [] if "fivek" in without else places.list_rows("train")
    coco = [] if "coco" in without else places.list_rows("coco", fold)
    batches = PlaceBatches(places, rows, coco, coco_share, seed)
    network = PlaceNetwork()
    if start is None:
        load_pretrained(network)
    else:
        network.load_state_dict(load_file(start / WEIGHTS_FILE))
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer, schedule = _make_optimizer(network, rate, steps)
    average = {name: value.clone() for name, value in network.state_dict().items()}
    begin, sums = time.time(), dict[str, float]()
    network.train()
    for step in range(1, steps + 1):
        photos, *labels = batches.draw(batch, side)
        losses = measure_loss(*network(photos.contiguous(memory_format=torch.channels_last)), *labels)
        optimizer.zero_grad(set_to_none=True)
        torch.stack(list(losses.values())).sum().backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
        optimizer.step()
        schedule.step()
        _follow(average, network.state_dict(), 1 - min(KEEP, step / (step + 10)))
        for name, loss in losses.items():
            sums[name] = sums.get(name, 0.0) + loss.item()
        if step % 50 == 0:
            parts = ", ".join(f"{name} {value / 50:.3f}" for name, value in sums.items())
            print_line(f"{step} {time.time() - begin:.0f} s {parts}")
            sums.clear()
        if step % 200 == 0 or step == steps:
            _save(average, out)
    network.load_state_dict(average)
    held = places.list_rows("coco", 0 if fold is None else fold, held=True)
    print_line(json.dumps(measure_masks(network.eval(), places, held)))


def _follow(average: dict[str, Tensor], state: dict[str, Tensor], share: float) -> None:
    """Move the average towards the weights of now."""
    for name, value in state.items():
        if value.is_floating_point():
            average[name].lerp_(value, share)
        else:
            average[name].copy_(value)


def _save(state: dict[str, Tensor], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    save_file({name: value.contiguous() for name, value in state.items()}, out / WEIGHTS_FILE)


def _make_optimizer(
    network: PlaceNetwork, rate: float, steps: int
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """The encoder learns more slowly than what is new; both slow down to nothing."""
    encoder = [one for block in network.blocks[FROZEN:] for one in block.parameters()]
    ours = {id(one) for part in (network.stem, network.blocks) for one in part.parameters()}
    rest = [one for one in network.parameters() if id(one) not in ours]
    groups = [{"params": encoder, "lr": ENCODER_RATE * rate}, {"params": rest, "lr": rate}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)

    def scale(step: int) -> float:
        return min(1, (step + 1) / 50) * (0.5 + 0.5 * math.cos(math.pi * step / steps))

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, scale)


@torch.no_grad()
def measure_masks(network: PlaceNetwork, places: PlaceSet, rows: list[int]) -> dict[str, str]:
    """Mean intersection over union by place, and on how many photos: where it covers five per cent."""
    found: dict[str, list[float]] = {name: [] for name in CHANNELS}
    for row in rows:
        photo = torch.from_numpy(places.photos[[row]]).permute(0, 3, 1, 2).float() / 255
        chances = network(photo)[0].sigmoid()[0].numpy()
        for number, name in enumerate(CHANNELS):
            levels = places.masks[row, number]
            inside, known = (levels > FULL / 2) & (levels != UNKNOWN), levels != UNKNOWN
            if inside.mean() >= 0.05:
                guess = (chances[number] > 0.5) & known
                found[name].append(float((guess & inside).sum() / (guess | inside).sum()))
    return {name: f"{np.mean(values):.3f} ({len(values)})" for name, values in found.items() if values}


def export(outs: list[Path], path: Path) -> None:
    """Write the trained network, or the mean of several, as the one file that the package has."""
    states = [load_file(out / WEIGHTS_FILE) for out in outs]
    network = PlaceNetwork()
    network.load_state_dict(
        {name: torch.stack([state[name].float() for state in states]).mean(0) for name in states[0]}
    )
    export_places(network, path)


def add_place_commands(parser: argparse.ArgumentParser) -> None:
    """Add `pack`, `train` and `export` to a command line; each sets `command` to its function."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("pack", help="write photos and masks as small arrays")
    one.set_defaults(command=pack)
    one.add_argument("data", type=Path, help="folder with ma5k-req and coco-panoptic")
    one.add_argument("teachers", type=Path, help="folder with masks, in a folder for each place")
    one.add_argument("marks", type=Path, help="what a person saw, as JSON")
    one.add_argument("folder", type=Path, help="folder to write")
    one = commands.add_parser("train", help="train on a packed folder")
    one.set_defaults(command=train)
    one.add_argument("folder", type=Path, help="folder that `places pack` wrote")
    one.add_argument("out", type=Path, help="folder for the weights")
    one.add_argument("--from", dest="start", type=Path, metavar="OUT", help="folder of weights to go on from")
    one.add_argument("--fold", type=int, choices=range(5), help="hold back this fifth of COCO and measure it")
    one.add_argument(
        "--without", action="append", default=[], choices=("fivek", "coco"), help="leave these photos out"
    )
    one.add_argument("--coco-share", type=float, default=0.4, help="share of COCO photos in a batch")
    one.add_argument("--steps", type=int, default=1200)
    one.add_argument("--batch", type=int, default=16, help="photos in a batch")
    one.add_argument("--side", type=int, default=192, help="pixels a side of the photos it sees")
    one.add_argument("--rate", type=float, default=2e-3)
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--threads", type=int, default=0, help="0 for as many as there are cores")
    one = commands.add_parser("export", help="write the trained network as one ONNX file")
    one.set_defaults(command=export)
    one.add_argument("outs", type=Path, nargs="+", help="folders of weights, of which the mean is taken")
    one.add_argument("path", type=Path, help="file to write")
