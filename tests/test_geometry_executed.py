"""Recipes that crop and turn: sizes, masks, alpha, stages, previews and files."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import t2onet
from t2onet import Mask, Recipe, apply, bands, intermediates
from t2onet.editor.conversation import interpolate_recipes
from t2onet.editor.policy import apply_to_thumbnail
from t2onet.executor import render_stages
from t2onet.image import Image
from t2onet.recipe import Step

pytestmark = pytest.mark.slow

CROP = ("crop", (0.25, 0.0, 1.0, 0.5))
DARKEN = ("brightness", -0.5)


def noise(height: int, width: int, channels: int = 3, dtype: str = "uint8") -> np.ndarray:
    values = np.random.default_rng(0).random((height, width, channels))
    return values.astype(dtype) if dtype == "float32" else (np.iinfo(dtype).max * values).astype(dtype)


def run(steps: list[tuple[object, ...]], photo: np.ndarray, **options: object) -> np.ndarray:
    return np.asarray(apply(Recipe.from_steps(steps), photo, **options))  # type: ignore[arg-type]


def left_half() -> Mask:
    return Mask.from_array(np.arange(400)[None, :].repeat(4, 0) < 200)


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("channels", [3, 4])
def test_alpha_is_cropped_and_turned_along(dtype: str, channels: int, kernels: bool) -> None:
    photo = noise(40, 60, channels, dtype)
    steps = [CROP, ("rotate", 90), ("flip", (1, 0))]
    expected = np.rot90(photo[:20, 15:], -1)[:, ::-1]
    assert np.array_equal(run(steps, photo, kernels=kernels), expected)


def test_straightened_alpha_has_the_size_of_the_photo() -> None:
    photo = noise(40, 60, 4)
    photo[..., 3] = photo[..., 0]
    result = run([("straighten", 5)], photo)
    assert result.shape[:2] == Recipe.from_steps([("straighten", 5)]).size_after(40, 60)
    assert np.array_equal(result[..., 3], result[..., 0])


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("where", [0, 1, 2])
def test_pointwise_steps_do_not_mind_where_a_crop_stands(kernels: bool, where: int) -> None:
    photo, edits = noise(40, 60), [("contrast", 0.4), ("saturation", 0.3)]
    steps = [*edits[:where], CROP, *edits[where:]]
    whole = run(list(edits), photo, kernels=kernels)
    result = run(steps, photo, kernels=kernels)
    assert np.abs(result.astype(int) - whole[:20, 15:]).max() <= (where == 1), "16 bits between two passes"


def test_a_mask_covers_the_picture_that_its_step_sees() -> None:
    photo = np.full((40, 80, 3), 200, np.uint8)
    before = run([(*DARKEN, left_half()), ("crop", (0.25, 0, 0.75, 1))], photo)
    after = run([("crop", (0.25, 0, 0.75, 1)), (*DARKEN, left_half())], photo)
    for result in (before, after):
        assert result.shape == (40, 40, 3)
        assert (result[:, :18] < 110).all()
        assert (result[:, 22:] == 200).all()
    turned = run([("rotate", 90), (*DARKEN, left_half())], photo)
    assert turned.shape == (80, 40, 3)
    assert (turned[:, :18] < 110).all()
    assert (turned[:, 22:] == 200).all()
    moved = run([(*DARKEN, left_half()), ("rotate", 90)], photo)
    assert (moved[:38] < 110).all()
    assert (moved[42:] == 200).all()


def test_a_mask_is_stretched_over_the_crop() -> None:
    photo = np.full((40, 80, 3), 200, np.uint8)
    result = run([("crop", (0.5, 0, 1, 1)), (*DARKEN, left_half())], photo)
    assert (result[:, :18] < 110).all()
    assert (result[:, 22:] == 200).all()


def test_a_repair_after_a_crop_leaves_the_photo_alone() -> None:
    pytest.importorskip("cv2")
    photo = noise(40, 60, 3, "float32")
    kept = photo.copy()
    spot = np.zeros((8, 8), bool)
    spot[4, 4] = True
    result = run([CROP, ("inpaint", [], Mask.from_array(spot))], photo)
    assert result.shape == (20, 45, 3)
    assert np.array_equal(photo, kept)
    assert not np.array_equal(result, photo[:20, 15:])


def test_neighbourhoods_are_those_of_the_new_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crop of 1000 pixels is sharpened as a photo of 1000 pixels is."""
    photo = noise(1500, 1500)
    cropped = run([("crop", (0, 0, 2 / 3, 2 / 3)), ("sharpness", 0.5)], photo)
    assert np.array_equal(cropped, run([("sharpness", 0.5)], photo[:1000, :1000].copy()))


@pytest.mark.parametrize("kernels", [False, True])
def test_bands_meet(kernels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [("sharpness", 0.3), ("straighten", -7), ("contrast", 0.3), CROP, ("rotate", 270)]
    photo = noise(90, 70)
    whole = run(list(steps), photo, kernels=kernels)
    monkeypatch.setattr(bands, "BAND_PIXELS", 300)
    assert np.array_equal(run(list(steps), photo, kernels=kernels, threads=3), whole)


def test_the_formula_and_the_kernel_agree() -> None:
    for dtype, allowed in (("uint8", 1), ("uint16", 1), ("float32", 1e-6)):
        photo = noise(90, 70, 3, dtype)
        one, other = (run([("straighten", 11)], photo, kernels=kernels) for kernels in (False, True))
        assert np.abs(one.astype(float) - other).max() <= allowed


def test_stages_and_intermediates_have_their_own_sizes() -> None:
    recipe = Recipe.from_steps(
        [("contrast", 0.3), CROP, ("flip", (0, 0)), ("sharpness", 0.2), ("rotate", 90)]
    )
    photo = noise(40, 60, 4)
    sizes = [(40, 60), (20, 45), (20, 45), (20, 45), (45, 20)]
    stages = render_stages(recipe, photo, last=np.uint8)
    assert [stage.shape[:2] for stage in stages] == sizes
    assert [stage.dtype for stage in stages] == [np.uint16] * 4 + [np.uint8]
    between = list(intermediates(recipe, photo))
    assert [(one.height, one.width) for one in between] == sizes
    exact = np.asarray(apply(recipe, photo))
    assert np.array_equal(np.asarray(between[-1])[..., 3], exact[..., 3])
    for result in (stages[-1], np.asarray(between[-1])[..., :3]):
        assert np.abs(result.astype(int) - exact[..., :3]).max() <= 1


def test_progress_rises_to_one() -> None:
    shares: list[float] = []
    recipe = Recipe.from_steps([("contrast", 0.3), CROP, ("straighten", 3), ("tone", list(range(1, 9)))])
    apply(recipe, noise(40, 60), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize(
    "steps",
    [
        [("crop", (0.1, 0.2, 0.9, 0.7))],
        [("straighten", 4), ("sharpness", 0.5)],
        [("sharpness", 0.5), ("rotate", 90), ("crop", (0, 0.25, 1, 0.75)), ("contrast", 0.3)],
    ],
    ids=["crop", "straighten", "several"],
)
def test_a_preview_predicts_the_export(steps: list[tuple[object, ...]]) -> None:
    y, x = np.mgrid[:2500, :3000]
    waves = [np.sin(x / 31 + y / 57), np.sin(x / 43 - y / 29), np.sin(x * y / 9e4)]
    photo = t2onet.open_image((127.5 + 100 * np.stack(waves, -1)).astype(np.uint8))
    recipe = Recipe.from_steps(steps)
    shown = np.asarray(apply(recipe, photo.resize(1250), kernels=True)).astype(int)
    export = PIL.Image.fromarray(np.asarray(apply(recipe, photo, kernels=True)))
    exact = np.asarray(export.resize(shown.shape[1::-1], PIL.Image.Resampling.BOX)).astype(int)
    assert np.abs(shown - exact).mean() < 1


# ---- files


def test_metadata_follows_the_new_size(tmp_path: Path) -> None:
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8769).update({0xA002: 60, 0xA003: 40})
    stream = io.BytesIO()
    xmp = (
        b'<x:xmpmeta xmlns:x="adobe:ns:meta/">'
        b'<rdf:Description tiff:ImageWidth="60" exif:PixelXDimension="60">'
        b"<tiff:ImageLength>40</tiff:ImageLength><exif:PixelYDimension> 40 </exif:PixelYDimension>"
        b"</rdf:Description></x:xmpmeta>"
    )
    PIL.Image.fromarray(noise(40, 60)).save(stream, "JPEG", exif=exif.tobytes(), xmp=xmp)
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(stream.getvalue())
    result = apply(Recipe.from_steps([("crop", (0, 0, 0.5, 0.25))]), photo)
    assert (result.width, result.height) == (20, 15), "the upright photo is 40 x 60"
    saved = result.save(tmp_path / "edited.jpg")
    with PIL.Image.open(saved.path) as file:
        assert file.size == (20, 15)
        written = file.getexif()
        assert written[0x0112] == 1
        assert (written.get_ifd(0x8769)[0xA002], written.get_ifd(0x8769)[0xA003]) == (20, 15)
        packet = file.info["xmp"]
    assert b'tiff:ImageWidth="20" exif:PixelXDimension="20"' in packet
    assert (
        b"<tiff:ImageLength>15</tiff:ImageLength><exif:PixelYDimension> 15 </exif:PixelYDimension>" in packet
    )


REGIONS = (
    b'<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li><rdf:Description '
    b'mwg-rs:Name="Ada"><mwg-rs:Area stArea:x="0.9" stArea:y="0.9" stArea:w="0.1" stArea:h="0.1"/>'
    b"</rdf:Description></rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>"
    b"<MP:RegionInfo><MPRI:Regions><rdf:Bag><rdf:li MPReg:Rectangle='0.8, 0.8, 0.1, 0.1'/></rdf:Bag>"
    b"</MPRI:Regions></MP:RegionInfo>"
)


@pytest.mark.parametrize("extended", [False, True], ids=["packet", "extended"])
@pytest.mark.parametrize("step", [CROP, ("rotate", 90), ("straighten", 3), DARKEN], ids=lambda step: step[0])
def test_faces_that_were_marked_are_not_marked_elsewhere(
    tmp_path: Path, step: tuple[str, object], extended: bool
) -> None:
    packet = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><dc:title>Lake</dc:title>%b</x:xmpmeta>'
    segment = b"http://ns.adobe.com/xmp/extension/\0" + b"0" * 40 + REGIONS
    options = {"xmp": packet % (b"" if extended else REGIONS)}
    if extended:
        options["extra"] = b"\xff\xe1" + (len(segment) + 2).to_bytes(2, "big") + segment
    PIL.Image.fromarray(noise(40, 60)).save(photo := tmp_path / "photo.jpg", **options)
    saved = apply(Recipe.from_steps([step]), photo).save(tmp_path / "edited.jpg")
    data, stays = saved.path.read_bytes(), step == DARKEN
    assert (b"Region" in data) == stays
    assert packet % (REGIONS if stays and not extended else b"") in data
    notes = (
        [] if stays else ["the marked faces and regions were left out: the recipe crops or turns the photo"]
    )
    assert list(saved.notes) == notes


def test_pixels_of_another_size_need_their_alpha() -> None:
    image = t2onet.open_image(noise(4, 6, 4))
    with pytest.raises(t2onet.ImageError, match="6 x 4 pixels; give pixels of the same size"):
        image.with_pixels(noise(2, 2))
    small = image.with_pixels(noise(2, 2), alpha=np.zeros((2, 2), np.uint8))
    assert isinstance(small, Image)
    assert small.shape == (2, 2, 4)
    assert t2onet.open_image(noise(4, 6)).with_pixels(noise(2, 2)).shape == (2, 2, 3)


# ---- the editor's thumbnail


def test_a_thumbnail_keeps_its_size() -> None:
    thumbnail = noise(32, 32, 3, "float32").transpose(2, 0, 1).copy()
    for steps in ([CROP], [("straighten", 20)], [("rotate", 90), DARKEN]):
        assert apply_to_thumbnail(Recipe.from_steps(steps), thumbnail).shape == thumbnail.shape
    corner = apply_to_thumbnail(Recipe.from_steps([("crop", (0, 0, 0.5, 0.5))]), thumbnail)
    assert np.array_equal(corner[:, ::2, ::2], thumbnail[:, :16, :16])


def test_half_way_between_two_recipes_geometry_stays() -> None:
    old, new = Recipe(), Recipe.from_steps([CROP, DARKEN])
    crop, darken = interpolate_recipes(old, new, 0.5).steps
    assert (crop.operation, crop.parameters) == CROP
    assert darken == Step(operation="brightness", parameters=(-0.25,))
    assert interpolate_recipes(old, new, 0).steps == ()
    assert interpolate_recipes(new, old, 1).steps == ()


def test_memory_is_bounded_by_the_photos_themselves() -> None:
    """Beyond photo and result there are 16 bits a sample where a pass follows, and a few bands."""
    photo = noise(1500, 2000)
    steps = [
        ("contrast", 0.2),
        ("straighten", 5),
        ("contrast", 0.2),
        ("crop", (0.1, 0, 1, 1)),
        ("rotate", 90),
    ]
    recipe = Recipe.from_steps(steps)
    apply(recipe, photo[:64, :64].copy(), kernels=True)  # loads the kernels
    tracemalloc.start()
    try:
        apply(recipe, photo, kernels=True, threads=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * photo.nbytes
