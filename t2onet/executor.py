"""A recipe applied to a photo of any size.

The photo is cut into bands of rows, each widened by what the steps look aside, and threads take the bands one
by one: memory beyond the photo and its result is a few bands, and a band comes out as it would in one piece.
A repair is done in one piece, so the steps before it are finished first and those after it start over.
Small photos run by the plain formulas; large ones are worth loading the compiled kernels. The executor knows
nothing of files or requests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import PIL.Image
from numpy.typing import DTypeLike

from . import operations
from .errors import Cancelled, RecipeError
from .image import Image, open_image
from .image.codecs import count_cores
from .image.pixels import to_depth, to_uint8
from .operations import RadiusMode, pixel_scale
from .recipe import Mask, Recipe, Step

Pixels = np.ndarray
"""(H, W, 3) of uint8, uint16 or floats in [0, 1]."""
PhotoLike = Image | np.ndarray | str | Path
ProgressCallback = Callable[[float], None]

MIN_KERNEL_PIXELS = 12_000_000
"""Pixels from which loading the compiled kernels costs less time than it saves."""
BAND_PIXELS = 64 * 1024
"""Small enough for a band to stay in a core's cache."""
MIN_BAND_REACHES = 8
"""A band is at least this many times as tall as what it looks aside, so that little is computed twice."""
MAX_MASK_BYTES = 512 << 20
"""Masks, stretched over the photo at one byte per pixel, that are held at a time."""


class CancelToken(Protocol):
    """Anything that can say stop; `threading.Event` is one."""

    def is_set(self) -> bool: ...


def apply(
    recipe: Recipe | str | Path,
    photo: PhotoLike,
    *,
    radius: RadiusMode = "scaled",
    threads: int | None = None,
    kernels: bool | None = None,
    progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> Image:
    """`recipe` (or its file) applied to `photo` (an Image, an array (H, W, 3) or a file), at its own depth.

    `radius="pixel"` keeps sharpness at one pixel at any size. `kernels` forces the compiled or the formula
    path. `progress` is called with the share done, in the calling thread; `cancel` ends it with Cancelled.
    """
    image = open_image(photo)
    steps = tuple(step for step in _load_recipe(recipe).steps if not step.is_identity)
    if not steps:
        return image
    run = _Execution.of(image, radius, kernels, threads, progress=progress, cancel=cancel)
    return image.with_pixels(run.execute(steps, image.pixels, image.dtype))


def intermediates(
    recipe: Recipe | str | Path,
    photo: PhotoLike,
    *,
    radius: RadiusMode = "scaled",
    threads: int | None = None,
    kernels: bool | None = None,
) -> Iterator[Image]:
    """The photo after each step of `recipe`, made as they are asked for."""
    image = open_image(photo)
    run = _Execution.of(image, radius, kernels, threads)
    current = image.pixels
    for step in _load_recipe(recipe).steps:
        if not step.is_identity:
            current = run.execute((step,), current, np.dtype(np.float32))
        yield image.with_pixels(to_depth(current, image.dtype))


def render_stages(
    recipe: Recipe,
    photo: PhotoLike,
    *,
    last: DTypeLike,
    threads: int | None = None,
    kernels: bool | None = None,
) -> list[Pixels]:
    """The pixels after each step of `recipe`, in one pass: to be gone on from, and the last of them shown.

    Those are uint16 (or float32 before a repair), the last is of depth `last`. A step that does nothing hands
    on what it got. Meant for pictures of screen size: a thread takes its share of them in one band.
    """
    image = open_image(photo)
    steps = [step for step in recipe.steps if not step.is_identity]
    kept: list[Pixels] = []
    if steps:
        run = _Execution.of(image, "scaled", kernels, threads)
        whole = replace(run, band=-(-image.height * image.width // run.threads))
        whole.execute(steps, image.pixels, np.dtype(last), kept)
    found = iter(kept)
    current, every = image.pixels, []
    for step in recipe.steps:
        current = current if step.is_identity else next(found)
        every.append(current)
    return every


def should_use_kernels(pixels: int) -> bool:
    """Whether work on so many pixels in all is worth loading the compiled kernels."""
    return pixels >= MIN_KERNEL_PIXELS


def _load_recipe(recipe: Recipe | str | Path) -> Recipe:
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str | Path):
        return Recipe.load(recipe)
    raise RecipeError(
        f"{type(recipe).__name__!r} is no kind of recipe; make one with Recipe.from_steps([...])"
    )


@dataclass(frozen=True)
class _Execution:
    """How one photo is executed: its size, its pixel scale, by which path, and who watches."""

    height: int
    width: int
    scale: float
    compiled: bool
    threads: int
    progress: ProgressCallback | None
    cancel: CancelToken | None
    band: int | None = None
    """Pixels of a band, where those of BAND_PIXELS are too few."""

    @classmethod
    def of(
        cls,
        image: Image,
        radius: RadiusMode,
        kernels: bool | None,
        threads: int | None,
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> _Execution:
        height, width = image.height, image.width
        scale = pixel_scale(height, width, radius)
        compiled = should_use_kernels(height * width) if kernels is None else kernels
        return cls(height, width, scale, compiled, threads or count_cores(), progress, cancel)

    def execute(
        self, steps: Sequence[Step], pixels: Pixels, dtype: np.dtype[Any], stages: list[Pixels] | None = None
    ) -> Pixels:
        """`pixels` after all steps, as `dtype`; what they are after each of them is added to `stages`."""
        parts = _group_steps(steps, self.height * self.width)
        for number, part in enumerate(parts):
            wide = dtype if number == len(parts) - 1 else np.dtype(np.float32)
            before = () if stages is None else part[:-1]
            kept = [np.empty(pixels.shape, np.uint16) for _ in before]
            # A repair of pixels that nobody else has changes them in place.
            in_place = number > 0 and part[0].is_repair and stages is None and pixels.dtype == wide
            result = pixels if in_place else np.empty(pixels.shape, wide)
            for share in self._executed(part, pixels, result, kept):
                if self.progress is not None:
                    self.progress((number + share) / len(parts))
            if stages is not None:
                stages += [*kept, result]
            pixels = result
        return pixels

    def _executed(
        self, steps: Sequence[Step], pixels: Pixels, result: Pixels, kept: Sequence[Pixels]
    ) -> Iterator[float]:
        """Fills `result`, saying now and then which share is done; `steps` is one repair, or holds none.

        `kept`, empty or one for each step but the last, is filled with what lies between them.
        """
        if steps[0].is_repair:
            _raise_if_cancelled(self.cancel)
            self._repair(steps[0], pixels, result)
            yield 1.0
            return
        work = self._work(steps, pixels, result, kept)
        bands = list(self._bands(work.reach))
        for done, _ in enumerate(_run_in_threads(work.band, bands, self.threads, self.cancel), start=1):
            yield done / len(bands)

    def _work(
        self, steps: Sequence[Step], pixels: Pixels, result: Pixels, kept: Sequence[Pixels]
    ) -> _ExecutionPass:
        """One pass; curves that come first are worked out once for each level of an 8-bit photo.

        They are steps like any other where what lies between the steps is `kept`.
        """
        narrow = pixels.dtype == np.uint8
        curves = list(takewhile(_is_global_curve, steps)) if narrow and not kept else []
        rest, levels = steps[len(curves) :], None
        if curves or (self.compiled and narrow):
            # Kernels are not worth loading for curves alone.
            levels = replace(self, compiled=self.compiled and bool(rest))._levels(curves)
        masks = self._masks(rest)
        functions = [self._function(step, masks) for step in rest]
        return _ExecutionPass(self, functions, self._reach(rest), pixels, result, kept, levels)

    def _levels(self, curves: Sequence[Step]) -> np.ndarray:
        """(3, 256): what becomes of each level of each channel."""
        levels = np.tile(np.arange(256, dtype=np.float32) / 255, (3, 1, 1))
        for step in curves:
            levels = self._unmasked(step)(levels)
        return levels[:, 0]

    def _repair(self, step: Step, pixels: Pixels, result: Pixels) -> None:
        """What the mask does not touch is copied as it is, unless `result` is `pixels`."""
        assert step.mask is not None
        repair, scale = operations.repairs()[step.operation], pixel_scale(self.height, self.width)
        shares = _MaskCoverage.of(*step.mask.resize_cropped(self.height, self.width))
        if result is not pixels:
            result[...] = to_depth(pixels, result.dtype)
        if not shares.levels.size:
            return
        margin = max(self.height, self.width) if repair.margin is None else math.ceil(repair.margin * scale)
        part, levels = shares.widen(margin, self.height, self.width)
        share = np.divide(levels, 255, dtype=np.float32)
        picture = np.clip(to_depth(pixels[part], np.float32).transpose(2, 0, 1), 0, 1)
        mended = repair.function(np.ascontiguousarray(picture), share, scale)
        touched = share > 0
        blended = (picture + share * (mended - picture))[:, touched].T
        result[part][touched] = to_depth(np.clip(blended, 0, 1), result.dtype)

    def _reach(self, steps: Sequence[Step]) -> int:
        return sum(operations.get_operation(step.operation).reach(self.scale) for step in steps)

    def _bands(self, reach: int) -> Iterator[tuple[int, int]]:
        rows = max((self.band or BAND_PIXELS) // self.width, MIN_BAND_REACHES * reach, 1)
        for top in range(0, self.height, rows):
            yield top, min(top + rows, self.height)

    def _masks(self, steps: Sequence[Step]) -> dict[Mask, _MaskCoverage]:
        """Every mask of the steps, stretched over the photo once however many steps share it."""
        different = list({step.mask: None for step in steps if step.mask is not None})
        with ThreadPoolExecutor(self.threads) as pool:
            shares = pool.map(
                lambda mask: _MaskCoverage.of(*mask.resize_cropped(self.height, self.width)), different
            )
            return dict(zip(different, shares, strict=True))

    def _function(
        self, step: Step, masks: Mapping[Mask, _MaskCoverage]
    ) -> Callable[[np.ndarray, slice], np.ndarray]:
        """`step` as a function of a tile and the rows of the photo that it holds."""
        plain = self._unmasked(step)
        if step.mask is None:
            return lambda tile, rows: plain(tile)
        shares, reach = masks[step.mask], operations.get_operation(step.operation).reach(self.scale)
        return lambda tile, rows: shares.blend(tile, rows.start, plain, reach)

    def _unmasked(self, step: Step) -> Callable[[np.ndarray], np.ndarray]:
        operation = operations.get_operation(step.operation)
        if self.compiled:
            from .kernels import KERNELS

            if twin := KERNELS.get(step.operation):
                values = np.array(step.parameters)
                return lambda tile: twin(tile, values, self.scale)
        single = np.array(step.parameters, np.float32)
        return lambda tile: np.ascontiguousarray(operation.run(tile, single, self.scale))


@dataclass(frozen=True)
class _MaskCoverage:
    """A mask over the photo: the rows and columns where it is not black, and its levels there."""

    top: int
    left: int
    levels: np.ndarray
    """(rows, columns) uint8, without any where the mask is black."""

    @classmethod
    def of(cls, top: int, left: int, mask: np.ndarray) -> _MaskCoverage:
        """Of the part of a mask whose first row and column are `top` and `left`."""
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if not len(rows):
            return cls(0, 0, mask[:0, :0])
        inside = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        return cls(top + int(rows[0]), left + int(columns[0]), inside)

    def widen(self, margin: int, height: int, width: int) -> tuple[tuple[slice, slice], np.ndarray]:
        """The rows and columns of a photo up to `margin` pixels around the mask, and its levels there."""
        top, left = max(self.top - margin, 0), max(self.left - margin, 0)
        bottom = min(self.top + self.levels.shape[0] + margin, height)
        right = min(self.left + self.levels.shape[1] + margin, width)
        above, before = self.top - top, self.left - left
        levels = np.zeros((bottom - top, right - left), np.uint8)
        levels[above : above + self.levels.shape[0], before : before + self.levels.shape[1]] = self.levels
        return (slice(top, bottom), slice(left, right)), levels

    def blend(
        self, tile: np.ndarray, first: int, change: Callable[[np.ndarray], np.ndarray], reach: int
    ) -> np.ndarray:
        """`tile`, whose first row is row `first` of the photo, changed in place as far as the mask has it.

        `change` looks up to `reach` pixels aside; it computes only what is inside the mask.
        """
        top, bottom = max(self.top - first, 0), min(self.top + len(self.levels) - first, tile.shape[1])
        left, right = self.left, self.left + self.levels.shape[1]
        if top >= bottom:
            return tile
        above, before = max(top - reach, 0), max(left - reach, 0)
        changed = change(tile[:, above : bottom + reach, before : right + reach].copy())
        changed = changed[:, top - above : bottom - above, left - before : right - before]
        inside = tile[:, top:bottom, left:right]
        levels = self.levels[first + top - self.top : first + bottom - self.top]
        changed -= inside
        changed *= np.divide(levels, 255, dtype=np.float32)
        inside += changed
        return tile


@dataclass(frozen=True)
class _ExecutionPass:
    """One pass over a photo: bands of `pixels` through `functions` into `result`.

    What lies between the functions goes into `kept`, unless that is empty. Pixels are read by `levels`
    (3, 256) where that is given.
    """

    run: _Execution
    functions: Sequence[Callable[[np.ndarray, slice], np.ndarray]]
    reach: int
    pixels: Pixels
    result: Pixels
    kept: Sequence[Pixels]
    levels: np.ndarray | None

    def band(self, rows: tuple[int, int]) -> None:
        top, bottom = rows
        if self.levels is not None and not self.functions and self.result.dtype == np.uint8:
            self.result[top:bottom] = _map_levels(self.pixels[top:bottom], to_uint8(self.levels))
            return
        first, last = max(0, top - self.reach), min(self.run.height, bottom + self.reach)
        tile = self._load(self.pixels[first:last])
        for function, kept in zip_longest(self.functions, self.kept):
            tile = function(tile, slice(first, last))
            if kept is not None:
                self._store(tile, top - first, kept[top:bottom])
        self._store(tile, top - first, self.result[top:bottom])

    def _load(self, rows: Pixels) -> np.ndarray:
        if self.run.compiled and rows.dtype.kind == "u":
            from .kernels import load_integers, load_levels

            tile = np.empty((3, *rows.shape[:2]), np.float32)
            if self.levels is not None:
                load_levels(rows, self.levels, tile)
            else:
                load_integers(rows, _full_scale(rows.dtype), tile)
            return tile
        if self.levels is not None:
            return np.stack([table[rows[..., channel]] for channel, table in enumerate(self.levels)])
        values = to_depth(rows, np.float32).transpose(2, 0, 1)
        return np.ascontiguousarray(np.clip(values, 0, 1))

    def _store(self, tile: np.ndarray, offset: int, rows: Pixels) -> None:
        if self.run.compiled and rows.dtype.kind == "u":
            from .kernels import store_integers

            store_integers(tile, offset, _full_scale(rows.dtype), rows)
        else:
            rows[...] = to_depth(tile[:, offset : offset + len(rows)], rows.dtype).transpose(1, 2, 0)


def _is_global_curve(step: Step) -> bool:
    """Whether a step changes each level of each channel by itself, everywhere alike."""
    return step.mask is None and operations.get_operation(step.operation).per_channel


def _map_levels(rows: Pixels, table: np.ndarray) -> Pixels:
    """8-bit pixels by a table (3, 256) of others; Pillow's is the fastest there is without kernels."""
    return np.asarray(PIL.Image.fromarray(rows).point(table.ravel().tolist()))


def _group_steps(steps: Sequence[Step], pixels: int) -> list[list[Step]]:
    """Steps that can run band by band together, and each repair alone, in order.

    Together, as far as their masks on a photo of so many pixels come to MASK_BYTES.
    """
    parts: list[list[Step]] = []
    sizes: dict[Mask, float] = {}
    for step in steps:
        size = {step.mask: step.mask.extent() * pixels} if step.mask else {}
        alone = step.is_repair or not parts or parts[-1][0].is_repair
        if alone or sum((sizes | size).values()) > MAX_MASK_BYTES:
            parts.append([])
            sizes = {}
        parts[-1].append(step)
        sizes |= size
    return parts


def _full_scale(dtype: np.dtype[Any]) -> np.float32:
    return np.float32(np.iinfo(dtype).max)


def _run_in_threads(
    work: Callable[[tuple[int, int]], None],
    bands: Sequence[tuple[int, int]],
    threads: int,
    cancel: CancelToken | None,
) -> Iterator[None]:
    """Run `work` over all bands, a sign of life for each; an interruption leaves no work behind."""
    if threads == 1 or len(bands) == 1:
        for band in bands:
            _raise_if_cancelled(cancel)
            work(band)
            yield
        return
    pool = ThreadPoolExecutor(threads)
    try:
        for future in as_completed([pool.submit(work, band) for band in bands]):
            _raise_if_cancelled(cancel)
            future.result()
            yield
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _raise_if_cancelled(cancel: CancelToken | None) -> None:
    if cancel is not None and cancel.is_set():
        raise Cancelled("stopped on request; nothing was changed")
