"""EXIF and XMP survive an edit, true for the upright photo."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL.ExifTags import IFD

from t2onet.image import metadata, open_image, tiff
from t2onet.image.metadata import DAMAGED_EXIF_NOTE, read_capture_time, read_exif
from tests.image.helpers import MAKER_NOTE, encode, exif_block, photo, tiff_file

PREFIX = b"Exif\0\0"


def tags(path: Path) -> PIL.Image.Exif:
    with PIL.Image.open(path) as file:
        file.load()
        return file.getexif()


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_patch_changes_only_orientation_and_the_link_to_the_thumbnail(order: str) -> None:
    block = exif_block(6, order=order)
    patched = metadata.reset_exif_orientation(block)
    changed = [at for at in range(len(block)) if block[at] != patched[at]]
    assert len(patched) == len(block)
    assert len(changed) <= 1 + 4
    assert metadata.read_orientation(block) == 6
    assert metadata.read_orientation(patched) == 1
    read = PIL.Image.Exif()
    read.load(patched)
    assert read.get_ifd(IFD.IFD1) == {}
    assert read.get_ifd(IFD.Exif)[0x927C] == MAKER_NOTE


@pytest.mark.parametrize("order", ["<", ">"])
def test_pixel_sizes_follow_the_picture(order: str) -> None:
    read = PIL.Image.Exif()
    read.load(metadata.update_exif_size(exif_block(order=order), 1234, 567))
    assert read.get_ifd(IFD.Exif)[0xA002] == 1234
    assert read.get_ifd(IFD.Exif)[0xA003] == 567


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_photo_stands_upright(tmp_path: Path, name: str, orientation: int) -> None:
    upright = photo(24, 36)
    inverse = {6: 8, 8: 6}.get(orientation, orientation)
    stored = np.asarray(_turn(upright, inverse))
    path = tmp_path / "photo.bin"
    if name == "TIFF":
        path.write_bytes(tiff_file(stored, tags=[(0x0112, 3, bytes([orientation, 0]))]))
    else:
        options = {"quality": 100, "subsampling": 0} if name == "JPEG" else {"lossless": True}
        block = PREFIX + exif_block(orientation)
        path.write_bytes(encode(stored, name, exif=block, **(options if name != "PNG" else {})))
    image = open_image(path)
    np.testing.assert_allclose(image.pixels.astype(int), upright, atol=6 if name == "JPEG" else 0)
    image.with_pixels(image.pixels.copy()).save(tmp_path / "out.jpg")
    assert tags(tmp_path / "out.jpg").get(0x0112, 1) == 1
    assert open_image(tmp_path / "out.jpg").shape == upright.shape


def _turn(array: np.ndarray, orientation: int) -> np.ndarray:
    from t2onet.image.pixels import turn_upright

    return turn_upright(array, orientation)


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".tif"])
def test_the_block_survives_every_format(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "a.jpg").write_bytes(encode(photo(36, 24), "JPEG", exif=PREFIX + exif_block(6)))
    image = open_image(tmp_path / "a.jpg")
    out = tmp_path / f"out{suffix}"
    image.with_pixels(image.pixels.copy()).save(out)
    read = tags(out)
    assert read[0x010F] == "Camera Maker"
    assert read.get_ifd(IFD.Exif)[0x9003] == "2024:05:01 10:20:30"
    assert read.get_ifd(IFD.Exif)[0x927C] == MAKER_NOTE
    assert read.get_ifd(IFD.GPSInfo)[1] == "N"
    assert (read.get_ifd(IFD.Exif)[0xA002], read.get_ifd(IFD.Exif)[0xA003]) == (36, 24)
    if suffix != ".tif":
        assert open_image(out).origin.exif == metadata.reset_exif_orientation(exif_block(6))


def test_an_avif_keeps_the_tags_though_pillow_writes_them_anew(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(encode(photo(36, 24), "JPEG", exif=PREFIX + exif_block(6)))
    open_image(tmp_path / "a.jpg").save(tmp_path / "b.avif")
    read = tags(tmp_path / "b.avif")
    assert read[0x010F] == "Camera Maker"
    assert read.get_ifd(IFD.Exif)[0x927C] == MAKER_NOTE
    assert open_image(tmp_path / "b.avif").shape == (24, 36, 3)


def test_a_tiff_keeps_the_maker_note_where_it_was(tmp_path: Path) -> None:
    block = exif_block()
    (tmp_path / "a.jpg").write_bytes(encode(photo(), "JPEG", exif=PREFIX + block))
    image = open_image(tmp_path / "a.jpg")
    image.save(tmp_path / "out.tif")
    assert (tmp_path / "out.tif").read_bytes().index(MAKER_NOTE) == block.index(MAKER_NOTE)


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_tiff_gives_what_describes_the_photo_and_nothing_of_its_storage(tmp_path: Path, order: str) -> None:
    described = [(271, 2, b"Maker\0"), (315, 2, b"An artist\0"), (33432, 2, b"A copyright\0")]
    (tmp_path / "a.tif").write_bytes(tiff_file(photo(), order=order, tags=described))
    image = open_image(tmp_path / "a.tif")
    for suffix in (".tif", ".jpg"):
        image.with_pixels(image.pixels.copy()).save(tmp_path / f"out{suffix}")
        read = tags(tmp_path / f"out{suffix}")
        assert (read[271], read[315], read[33432]) == ("Maker", "An artist", "A copyright")
    assert 273 not in tags(tmp_path / "out.jpg")


def test_a_dng_tag_does_not_make_a_result_a_dng() -> None:
    data = tiff_file(photo(), tags=[(50706, 1, b"\1\4\0\0"), (272, 2, b"Model\0")])
    block = metadata.extract_exif_from_tiff(data)
    assert block is not None
    assert set(tiff.read_first_directory(block).entries) == {272}


@pytest.mark.parametrize(
    "block",
    [b"junk", PREFIX + b"II*\0\xff\xff\0\0", PREFIX + exif_block()[:40], b"II\0\0" + exif_block()[4:]],
)
def test_damaged_exif_is_left_out_and_said(tmp_path: Path, block: bytes) -> None:
    (tmp_path / "a.webp").write_bytes(encode(photo(), "WEBP", exif=block))
    image = open_image(tmp_path / "a.webp")
    assert image.origin.exif is None
    assert DAMAGED_EXIF_NOTE in image.notes


def test_exif_that_pillow_cannot_read_does_not_fail_an_avif(tmp_path: Path) -> None:
    block = exif_block().replace(b"\x12\x01\x03\0\1\0\0\0", b"\x12\x01\x07\0\1\0\0\0")
    (tmp_path / "a.webp").write_bytes(encode(photo(), "WEBP", exif=block))
    saved = open_image(tmp_path / "a.webp").save(tmp_path / "b.avif")
    assert saved.notes == (DAMAGED_EXIF_NOTE,)


@pytest.mark.slow
@given(st.data())
def test_no_damage_to_a_block_fails_a_photo(data: st.DataObject) -> None:
    block = bytearray(exif_block(6, order=data.draw(st.sampled_from("<>"))))
    for _ in range(data.draw(st.integers(1, 6))):
        block[data.draw(st.integers(0, len(block) - 1))] = data.draw(st.integers(0, 255))
    found = read_exif(bytes(block[: data.draw(st.integers(0, len(block)))]))
    assert 1 <= found.orientation <= 8
    if found.block is not None:
        metadata.update_exif_size(found.block, 10, 20)
        metadata.list_descriptive_entries(found.block)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_tiff_or_malformed(data: bytes) -> None:
    with contextlib.suppress(tiff.MalformedError):
        metadata.extract_exif_from_tiff(b"II*\0" + data)


PACKET = b"""<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"
 xmlns:Container="http://ns.google.com/photos/1.0/container/" xmlns:GCamera="http://ns.google.com/photos/1.0/camera/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" tiff:Orientation="6" hdrgm:Version="1.0" GCamera:MotionPhoto="1"
 dc:source="a lake">
<hdrgm:GainMapMin><rdf:Seq><rdf:li>0</rdf:li></rdf:Seq></hdrgm:GainMapMin>
<Container:Directory><rdf:Seq><rdf:li rdf:parseType="Resource"/></rdf:Seq></Container:Directory>
<dc:title>Lake</dc:title></rdf:Description></rdf:RDF></x:xmpmeta>"""


@pytest.mark.parametrize("written", [b'tiff:Orientation="%d"', b"<tiff:Orientation>%d</tiff:Orientation>"])
def test_orientation_becomes_upright_in_both_spellings(written: bytes) -> None:
    assert metadata.reset_xmp_orientation(b"<a " + written % 6 + b">") == b"<a " + written % 1 + b">"


def test_nothing_points_at_a_gain_map_or_film_any_more() -> None:
    alone = metadata.remove_stale_references(PACKET)
    root = ElementTree.fromstring(alone)
    assert b"Directory" not in alone
    assert b"GainMapMin" not in alone
    assert b"hdrgm:Version" not in alone
    assert b"MotionPhoto" not in alone
    assert b"<dc:title>Lake</dc:title>" in alone
    assert b'dc:source="a lake"' in alone
    assert root is not None


def test_a_plain_packet_stays_as_it_is() -> None:
    plain = b'<x dc:source="a lake"><Container:Directory></Container:Directory></x>'
    assert metadata.remove_stale_references(plain) is plain


def test_words_are_recognized() -> None:
    assert metadata.mentions_gain_map(PACKET)
    assert metadata.mentions_motion(PACKET)
    assert not metadata.mentions_gain_map(b"<x/>")


def test_the_time_a_photo_was_taken_is_read_from_its_exif() -> None:
    exif = PIL.Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = "2026:03:01 12:00:05"
    block = exif.tobytes().removeprefix(b"Exif\0\0")
    assert read_capture_time(block) == datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC).timestamp()
    exif.get_ifd(0x8769)[0x9003] = "0000:00:00 00:00:00"
    for unknown in (exif.tobytes().removeprefix(b"Exif\0\0"), b"II*\0", b"", None):
        assert read_capture_time(unknown) is None
