"""Apply a recipe to a photo of any size.

Steps are grouped into passes over the photo, and each pass goes through it in bands of rows (`bands.py`), so
that memory holds the photo, its result and a few bands. A repair needs the whole photo, and geometry changes
its size, so each is a pass of its own; the steps after geometry, and their masks, see the new size. The
`where` of a step is resolved on the photo as it was opened, in the frame that the step sees: no earlier step
moves it. Large photos use the compiled kernels, small ones the formulas. The executor knows nothing of files
or requests.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from . import operations
from .bands import (
    BandPass,
    CancelToken,
    Pixels,
    Rows,
    TileFunction,
    allocate_pixels,
    raise_if_cancelled,
    run_in_threads,
    split_rows,
)
from .errors import PlaceError, PlaceWarning, RecipeError
from .image import Image, image_from_array, open_image
from .image.codecs import count_cores
from .image.colour import decode_srgb, encode_srgb
from .image.metadata import remove_regions
from .image.pixels import to_depth
from .operations import Frame, GeometryFunction, RadiusMode, pixel_scale
from .places import OpenedPhoto, resolve_where
from .recipe import Mask, Recipe, Step
from .recipe.looks import load_recipe
from .recipe.mask import MaskCoverage
from .recipe.where import Where

PhotoLike = Image | np.ndarray | str | Path
ProgressCallback = Callable[[float], None]
Masks = Mapping[Mask | Where, MaskCoverage]
"""What the mask or the `where` of each step covers."""

MIN_KERNEL_WORK = 12_000_000
"""Pixels times steps from which loading the compiled kernels saves more time than it costs.

Loading them takes .54 s of CPU time in a new process. A formula takes .025 s for a step of the paper's and a
million pixels, .065 for one of the darkroom's: the break-even lies between 8 and 21 million.
"""
MIN_LOADED_KERNEL_WORK = 1_000_000
"""The same where this process has loaded them: each kernel still takes 10 to 20 ms at its first use."""
MIN_CURVE_KERNEL_PIXELS = 120_000_000
"""The same for curves alone, which Pillow maps almost as fast."""
MIN_TURN_KERNEL_PIXELS = 1_000_000
"""The same for geometry that interpolates, which is far slower without its kernel."""
MAX_MASK_BYTES = 512 << 20
"""Masks in memory at a time, stretched over the photo at one byte per pixel."""


def apply(
    recipe: Recipe | str | Path,
    photo: PhotoLike,
    *,
    radius: RadiusMode = "scaled",
    threads: int | None = None,
    kernels: bool | None = None,
    photos: int = 1,
    progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
    notes: list[str] | None = None,
) -> Image:
    """Apply `recipe` to `photo` (an Image, an array (H, W, 3) or a file), at its own bit depth.

    `recipe` may also be its file, or the name of a look ("teal and orange"); a file of that name wins.
    `radius="pixel"` keeps neighbourhoods at the paper's size at any resolution, except those of repairs.
    `kernels` forces the compiled kernels or the formulas; by default the steps and the pixels in all `photos`
    like this one decide. `progress` is called in the calling thread with the share done; once `cancel` is
    set, `Cancelled` is raised. Steps at a place that is not in the photo are left out: `notes` gets a
    sentence about each such place; without it, a `PlaceWarning` says so.
    """
    image = open_image(photo)
    steps = tuple(step for step in _load_recipe(recipe).steps if not step.is_identity)
    if not steps:
        return image
    run = _Execution.for_photo(
        image, steps, radius, kernels, threads, photos=photos, progress=progress, cancel=cancel
    )
    pixels = run.execute(steps, image.pixels, image.dtype, opened=OpenedPhoto(image))
    if notes is not None:
        notes += run.left_out
    else:
        for note in run.left_out:
            warnings.warn(note, PlaceWarning, stacklevel=2)
    return reframe_image(image, steps, pixels, threads=threads, kernels=kernels)


class PictureRenderer:
    """Applies recipes to one small picture (3, H, W) of floats in [0, 1] as `apply` does, by the formulas.

    Recipes that begin alike share the pictures after their first steps. Steps for a part of a photo, repairs
    and geometry are not for it.
    """

    def __init__(self, picture: np.ndarray) -> None:
        self._picture = np.ascontiguousarray(picture, np.float32)
        image = image_from_array(np.ascontiguousarray(picture.transpose(1, 2, 0)))
        self._run = _Execution.for_photo(image, (), "scaled", kernels=False, threads=1)
        self._after: dict[tuple[Step | None, ...], np.ndarray] = {}

    def can_render(self, recipe: Recipe) -> bool:
        return not any(step.is_local or _needs_own_pass(step) for step in recipe.steps)

    def render(self, recipe: Recipe) -> np.ndarray:
        """The picture after a recipe; it is shared, and must not be changed."""
        picture, done = self._picture, tuple[Step | None, ...]()
        steps = [step for step in recipe.steps if not step.is_identity]
        for step, function in self._run.chain_steps(steps, {}):
            done = (*done, step)
            if done not in self._after:
                self._after[done] = function(picture, self._run.frame)
            picture = self._after[done]
        return picture

    def forget(self) -> None:
        """Free the pictures."""
        self._after.clear()


def load_kernels() -> None:
    """Load what all kernels need, which takes most of the time before the first photo."""
    pixels = allocate_pixels((2, 2, 3), np.dtype(np.uint8))
    apply(Recipe.from_steps([("brightness", 0.5)]), pixels, kernels=True)


def reframe_image(
    image: Image,
    steps: Sequence[Step],
    pixels: Pixels,
    *,
    threads: int | None = None,
    kernels: bool | None = None,
) -> Image:
    """`image` with the `pixels` it has after `steps`; alpha follows geometry, which drops marked regions."""
    geometry = [step for step in steps if step.is_geometry and not step.is_identity]
    if geometry:
        image = remove_regions(image)
    if image.alpha is None or not geometry:
        return image.with_pixels(pixels)
    run = _Execution.for_photo(image, geometry, "scaled", kernels, threads)
    alpha = run.execute(geometry, image.alpha[..., None], image.alpha.dtype)
    return image.with_pixels(pixels, alpha=alpha[..., 0])


def intermediates(
    recipe: Recipe | str | Path,
    photo: PhotoLike,
    *,
    radius: RadiusMode = "scaled",
    threads: int | None = None,
    kernels: bool | None = None,
) -> Iterator[Image]:
    """The photo after each step of `recipe`, computed one by one."""
    image = open_image(photo)
    current, steps = image.pixels, _load_recipe(recipe).steps
    run, opened = _Execution.for_photo(image, steps, radius, kernels, threads), OpenedPhoto(image)
    for number, step in enumerate(steps, start=1):
        if not step.is_identity:
            current = run.execute((step,), current, np.dtype(np.float32), opened=opened)
            if _name_places(steps[number:]):
                opened = run.reframe(opened, (step,))
            run = run.resize(*current.shape[:2])
        pixels = to_depth(current, image.dtype)
        yield reframe_image(image, steps[:number], pixels, threads=threads, kernels=kernels)


def render_stages(
    recipe: Recipe,
    photo: PhotoLike,
    *,
    last: DTypeLike,
    opened: Image | None = None,
    done: Sequence[Step] = (),
    threads: int | None = None,
    kernels: bool | None = None,
) -> list[Pixels]:
    """The pixels after each step of `recipe`, all computed in one pass, for previews of screen size.

    They are uint16 (float32 before a repair), the final ones of type `last`. A step that does nothing has the
    pixels of the step before it. Each thread processes one band. After geometry, the size is the new one.
    Where `photo` is a result, `opened` is the photo before the steps that are `done`.
    """
    image = open_image(photo)
    steps = [step for step in recipe.steps if not step.is_identity]
    changed: list[Pixels] = []
    if steps:
        run = _Execution.for_photo(image, steps, "scaled", kernels, threads)
        source = run.reframe(OpenedPhoto(opened or image), done) if _name_places(steps) else None
        run = replace(run, band_pixels=-(-image.height * image.width // run.threads))
        run.execute(steps, image.pixels, np.dtype(last), changed, opened=source)
    remaining = iter(changed)
    current, stages = image.pixels, []
    for step in recipe.steps:
        current = current if step.is_identity else next(remaining)
        stages.append(current)
    return stages


def _load_recipe(recipe: Recipe | str | Path) -> Recipe:
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str | Path):
        return load_recipe(recipe)
    raise RecipeError(
        f"a recipe is a Recipe, a path or a look, not {type(recipe).__name__}; "
        "make one with Recipe.from_steps([...])"
    )


@dataclass(frozen=True)
class _Execution:
    """How recipes are executed on one photo: its frame, kernels, threads and callbacks."""

    frame: Frame
    radius: RadiusMode
    compiled: bool
    may_compile: bool
    """False where the formulas are forced."""
    compiled_curves: bool
    """Whether curves alone use a kernel."""
    threads: int
    progress: ProgressCallback | None
    cancel: CancelToken | None
    band_pixels: int | None = None
    """Pixels of a band; the usual number where None."""
    left_out: list[str] = field(default_factory=list)
    """Sentences about steps at places that are not in the photo."""

    @classmethod
    def for_photo(
        cls,
        image: Image,
        steps: Sequence[Step],
        radius: RadiusMode,
        kernels: bool | None,
        threads: int | None,
        *,
        photos: int = 1,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> _Execution:
        frame = Frame(image.height, image.width, pixel_scale(image.height, image.width, radius))
        pixels = image.height * image.width * photos
        work = pixels * len(_list_computed(steps, image.dtype))
        compiled = work >= _find_least_work() if kernels is None else kernels
        may_compile = kernels is not False
        curves = may_compile and pixels >= MIN_CURVE_KERNEL_PIXELS
        return cls(frame, radius, compiled, may_compile, curves, threads or count_cores(), progress, cancel)

    def resize(self, height: int, width: int) -> _Execution:
        """The execution of further steps on a result of another size."""
        if (height, width) == (self.height, self.width):
            return self
        return replace(self, frame=Frame(height, width, pixel_scale(height, width, self.radius)))

    @property
    def height(self) -> int:
        return self.frame.height

    @property
    def width(self) -> int:
        return self.frame.width

    def execute(
        self,
        steps: Sequence[Step],
        pixels: Pixels,
        dtype: np.dtype[Any],
        stages: list[Pixels] | None = None,
        *,
        opened: OpenedPhoto | None = None,
    ) -> Pixels:
        """`pixels` after all steps, as `dtype`; the pixels after each step are appended to `stages`.

        Steps with a `where` need the photo as it was `opened`.
        """
        run, parts = self, _group_steps(steps, self.height * self.width)
        for number, part in enumerate(parts):
            wide = _choose_sample_type(parts[number:], pixels.dtype, dtype, staged=stages is not None)
            inner = [] if stages is None else [np.empty(pixels.shape, np.uint16) for _ in part[:-1]]
            # A repair works in place on pixels that are not used elsewhere.
            free = number > 0 and stages is None and pixels.flags.writeable
            free = free and (opened is None or not np.may_share_memory(opened.pixels, pixels))
            in_place = free and part[0].is_repair and pixels.dtype == wide
            size = part[0].size_after(run.height, run.width)
            shape = (*size, pixels.shape[2])
            result = pixels if in_place else allocate_pixels(shape, wide)
            for share in run._run_part(part, pixels, result, inner, opened):
                if self.progress is not None:
                    self.progress((number + share) / len(parts))
            if stages is not None:
                stages += [*inner, result]
            if opened is not None and not _name_places(chain.from_iterable(parts[number + 1 :])):
                opened = None
            elif opened is not None and part[0].is_geometry:
                is_same = opened.pixels is pixels
                opened = opened.with_pixels(result) if is_same else run.reframe(opened, part)
            pixels, run = result, run.resize(*size)
        return pixels

    def reframe(self, opened: OpenedPhoto, done: Sequence[Step]) -> OpenedPhoto:
        """The opened photo in its frame after the geometry of the steps that are `done`."""
        geometry = [step for step in done if step.is_geometry and not step.is_identity]
        if not geometry:
            return opened
        run = replace(self.resize(*opened.pixels.shape[:2]), progress=None)
        return opened.with_pixels(run.execute(geometry, opened.pixels, opened.pixels.dtype))

    def _run_part(
        self,
        steps: Sequence[Step],
        pixels: Pixels,
        result: Pixels,
        inner: Sequence[Pixels],
        opened: OpenedPhoto | None,
    ) -> Iterator[float]:
        """Fill `result` and yield the share done; a repair or geometry is the only one of its `steps`.

        `inner` is empty, or has an array for each step but the last, filled with the pixels after that step.
        """
        if steps[0].is_repair:
            raise_if_cancelled(self.cancel)
            self._repair(steps[0], pixels, result)
            yield 1.0
            return
        if steps[0].is_geometry:
            process, bands = self._prepare_geometry(steps[0], pixels, result)
        else:
            masks: Masks = {**self._resize_masks(steps), **self._resolve_places(steps, opened)}
            work = self._prepare_pass(steps, pixels, result, inner, masks)
            process, bands = work.process, split_rows(self.height, self.width, work.reach, self.band_pixels)
        finished = run_in_threads(process, bands, self.threads, self.cancel)
        for done, _ in enumerate(finished, start=1):
            yield done / len(bands)

    def _prepare_geometry(
        self, step: Step, pixels: Pixels, result: Pixels
    ) -> tuple[Callable[[Rows], None], list[Rows]]:
        """A function that fills a band of `result`, and the bands."""
        function = self._find_geometry_kernel(step) or operations.geometries()[step.operation].function

        def process_band(rows: Rows) -> None:
            result[slice(*rows)] = to_depth(function(pixels, step.parameters, slice(*rows)), result.dtype)

        height, width = result.shape[:2]
        return process_band, split_rows(height, width, pixels=self.band_pixels)

    def _find_geometry_kernel(self, step: Step) -> GeometryFunction | None:
        large = self.height * self.width >= MIN_TURN_KERNEL_PIXELS
        if not (self.compiled or (self.may_compile and large and _reads_neighbours(step))):
            return None
        from .kernels import GEOMETRY_KERNELS

        return GEOMETRY_KERNELS.get(step.operation)

    def _prepare_pass(
        self,
        steps: Sequence[Step],
        pixels: Pixels,
        result: Pixels,
        inner: Sequence[Pixels],
        masks: Masks,
    ) -> BandPass:
        """One pass over the photo.

        Leading curves of an 8-bit photo become a table of its 256 levels, unless the pixels after each step
        are needed.
        """
        is_8_bit = pixels.dtype == np.uint8
        curves = [] if inner else _list_leading_curves(steps, pixels.dtype)
        rest, levels = steps[len(curves) :], None
        linear = False
        if curves or (self.compiled and is_8_bit):
            # Kernels are not worth loading for curves alone.
            levels = replace(self, compiled=self.compiled and bool(rest))._make_level_table(curves)
            if linear := bool(rest) and not inner and _is_linear(rest[0]):
                levels = decode_srgb(levels)
        functions = [function for _, function in self.chain_steps(rest, masks, linear=linear, fuse=not inner)]
        return BandPass(
            frame=self.frame,
            functions=functions,
            reach=self._sum_reaches(rest),
            pixels=pixels,
            result=result,
            inner=inner,
            levels=levels,
            compiled=self.compiled,
            compiled_curves=self.compiled_curves,
        )

    def _make_level_table(self, curves: Sequence[Step]) -> np.ndarray:
        """(3, 256): the value of each 8-bit level of each channel after the curves."""
        levels = np.tile(np.arange(256, dtype=np.float32) / 255, (3, 1, 1))
        for step in curves:
            levels = self._make_tile_function(step)(levels, self.frame)
        return levels[:, 0]

    def chain_steps(
        self, steps: Sequence[Step], masks: Masks, *, linear: bool = False, fuse: bool = True
    ) -> list[tuple[Step | None, TileFunction]]:
        """Functions that take a tile, in linear light or as displayed, to the display after all steps.

        Each comes with its step; those to linear light and back have none. Between steps that compute in
        linear light the tile stays there, unless each step's result is needed.
        """
        functions: list[tuple[Step | None, TileFunction]] = []
        for step in steps:
            wanted = fuse and _is_linear(step)
            if wanted != linear:
                functions.append((None, self._decode if wanted else self._encode))
            functions.append((step, self._make_step_function(step, masks, linear=wanted)))
            linear = wanted
        return [*functions, (None, self._encode)] if linear else functions

    def _decode(self, tile: np.ndarray, frame: Frame) -> np.ndarray:
        """To linear light."""
        if not self.compiled:
            return np.ascontiguousarray(decode_srgb(tile))
        from .kernels import decode_tile

        return decode_tile(tile)

    def _encode(self, tile: np.ndarray, frame: Frame) -> np.ndarray:
        """As displayed."""
        if not self.compiled:
            return np.ascontiguousarray(encode_srgb(tile))
        from .kernels import encode_tile

        return encode_tile(tile)

    def _repair(self, step: Step, pixels: Pixels, result: Pixels) -> None:
        """Fill the mask of `step`; pixels outside it are copied, unless `result` is `pixels`."""
        assert step.mask is not None
        repair, scale = operations.repairs()[step.operation], pixel_scale(self.height, self.width)
        coverage = MaskCoverage.crop(*step.mask.resize_cropped(self.height, self.width))
        if result is not pixels:
            result[...] = to_depth(pixels, result.dtype)
        if not coverage.levels.size:
            return
        margin = max(self.height, self.width) if repair.margin is None else math.ceil(repair.margin * scale)
        part, levels = coverage.widen(margin, self.height, self.width)
        share = np.divide(levels, 255, dtype=np.float32)
        picture = np.clip(to_depth(pixels[part], np.float32).transpose(2, 0, 1), 0, 1)
        repaired = repair.function(np.ascontiguousarray(picture), share, scale)
        inside = share > 0
        blended = (picture + share * (repaired - picture))[:, inside].T
        result[part][inside] = to_depth(np.clip(blended, 0, 1), result.dtype)

    def _sum_reaches(self, steps: Sequence[Step]) -> int:
        return sum(operations.get_operation(step.operation).reach(self.frame) for step in steps)

    def _resize_masks(self, steps: Sequence[Step]) -> Masks:
        """Every different mask of the steps, stretched over the photo."""
        different = list({step.mask: None for step in steps if step.mask is not None})
        with ThreadPoolExecutor(self.threads) as pool:
            parts = pool.map(lambda mask: mask.resize_cropped(self.height, self.width), different)
            return {mask: MaskCoverage.crop(*part) for mask, part in zip(different, parts, strict=True)}

    def _resolve_places(self, steps: Sequence[Step], opened: OpenedPhoto | None) -> Masks:
        """The mask of every different `where` of the steps."""
        different = dict.fromkeys(step.where for step in steps if step.where is not None)
        if not different:
            return {}
        assert opened is not None, "places are found on the photo as it was opened"
        return {where: self._resolve(where, opened, steps) for where in different}

    def _resolve(self, where: Where, opened: OpenedPhoto, steps: Sequence[Step]) -> MaskCoverage:
        """What a place covers: nothing where it is not in the photo, and then a sentence says so."""
        try:
            mask = resolve_where(
                where, opened, compiled=self.compiled, threads=self.threads, cancel=self.cancel
            )
        except PlaceError as error:
            names = [step.operation.replace("_", " ") for step in steps if step.where == where]
            self.left_out.append(f"{error}; {' and '.join(dict.fromkeys(names))} left out")
            return MaskCoverage(0, 0, np.zeros((0, 0), np.uint8))
        return MaskCoverage.crop(0, 0, mask)

    def _make_step_function(self, step: Step, masks: Masks, *, linear: bool) -> TileFunction:
        """`step` as a function of a tile in linear light or as displayed."""
        function = self._make_tile_function(step, linear=linear)
        part = step.where if step.mask is None else step.mask
        if part is None:
            return function
        coverage, reach = masks[part], operations.get_operation(step.operation).reach(self.frame)
        return lambda tile, frame: coverage.blend(tile, frame, function, reach)

    def _make_tile_function(self, step: Step, *, linear: bool = False) -> TileFunction:
        operation = operations.get_operation(step.operation)
        run = self._find_kernel(step) or _make_formula(step)
        if operation.space == "display" or linear:
            return run
        return lambda tile, frame: self._encode(run(self._decode(tile, frame), frame), frame)

    def _find_kernel(self, step: Step) -> TileFunction | None:
        """The kernel of a step, in the space of its operation."""
        if not self.compiled:
            return None
        from .kernels import KERNELS

        prepare = KERNELS.get(step.operation)
        return prepare(np.array(step.parameters)) if prepare else None


def _make_formula(step: Step) -> TileFunction:
    """The formula of a step, in the space of its operation."""
    operation, values = operations.get_operation(step.operation), np.array(step.parameters, np.float32)

    def run(tile: np.ndarray, frame: Frame) -> np.ndarray:
        return np.ascontiguousarray(np.clip(operation.formula(tile, values, frame), 0.0, 1.0))

    return run


def _is_linear(step: Step) -> bool:
    """Whether a step computes on the whole photo in linear light."""
    return not step.is_local and operations.get_operation(step.operation).space == "linear"


def _find_least_work() -> int:
    """Pixels times steps from which kernels pay in this process."""
    is_loaded = f"{__package__}.kernels" in sys.modules
    return MIN_LOADED_KERNEL_WORK if is_loaded else MIN_KERNEL_WORK


def _list_computed(steps: Sequence[Step], dtype: np.dtype[Any]) -> list[Step]:
    """The steps that are computed for each pixel, which kernels make faster."""
    rest = steps[len(_list_leading_curves(steps, dtype)) :]
    return [step for step in rest if not _needs_own_pass(step)]


def _list_leading_curves(steps: Sequence[Step], dtype: np.dtype[Any]) -> list[Step]:
    """The first steps of photos of 8 bits, as far as a table of 256 levels does them."""
    return list(takewhile(_is_global_curve, steps)) if dtype == np.uint8 else []


def _is_global_curve(step: Step) -> bool:
    """Whether a step maps the levels of each channel alike everywhere."""
    if step.is_local or _needs_own_pass(step):
        return False
    return operations.get_operation(step.operation).per_channel


def _group_steps(steps: Sequence[Step], pixels: int) -> list[list[Step]]:
    """Split steps into passes whose masks fit MAX_MASK_BYTES; a repair or geometry is a pass of its own."""
    parts: list[list[Step]] = []
    sizes: dict[Mask | Where, float] = {}
    for step in steps:
        size = _measure_mask(step, pixels)
        alone = not parts or _needs_own_pass(step) or _needs_own_pass(parts[-1][0])
        if alone or sum((sizes | size).values()) > MAX_MASK_BYTES:
            parts.append([])
            sizes = {}
        parts[-1].append(step)
        sizes |= size
    return parts


def _name_places(steps: Iterable[Step]) -> bool:
    """Whether any of the steps has a `where`."""
    return any(step.where is not None for step in steps)


def _measure_mask(step: Step, pixels: int) -> dict[Mask | Where, float]:
    """The bytes that the mask of a step takes on a photo of `pixels` pixels."""
    if step.mask is not None:
        return {step.mask: step.mask.extent() * pixels}
    return {} if step.where is None else {step.where: float(pixels)}


def _reads_neighbours(step: Step) -> bool:
    return operations.declarations()[step.operation].reads_neighbours


def _needs_own_pass(step: Step) -> bool:
    return step.is_repair or step.is_geometry


def _choose_sample_type(
    parts: Sequence[Sequence[Step]], given: np.dtype[Any], final: np.dtype[Any], *, staged: bool
) -> np.dtype[Any]:
    """The sample type after the first of the `parts` that are left, for pixels of type `given`.

    Geometry keeps the type. Before it, 16 bits are enough for integers, or the final type if nothing but
    geometry follows; the pixels after each step (`staged`) may have further steps later.
    """
    (part, *later), is_geometry = parts, [part[0].is_geometry for part in parts[1:]]
    if not later or (all(is_geometry) and not staged):
        return final
    if part[0].is_geometry:
        return given
    return np.dtype(np.uint16 if is_geometry[0] and final.kind == "u" else np.float32)
