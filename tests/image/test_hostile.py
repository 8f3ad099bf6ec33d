"""Files that ask for far more work than their size suggests are opened or refused at once, in little room."""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet.errors import ImageError
from t2onet.image import formats, metadata, open_image, tiff
from t2onet.image.metadata import DAMAGED_EXIF_NOTE, read_exif, read_xmp
from tests import hostile
from tests.conftest import PATIENCE
from tests.hostile import FILES
from tests.image.helpers import encode, exif_block, photo, png_chunk, profile, tiff_file

SECONDS = 5.0
"""Of the processor, many times what these take; what they replace took minutes."""
MEGABYTES = 600

OPEN = """
import json, os, pathlib, sys, time
from t2onet import ImageError, open_image

def measure(path):
    refusal, begun = "", time.process_time()
    try:
        open_image(path)
    except ImageError as error:
        refusal = str(error)
    status = pathlib.Path("/proc/self/status").read_text()
    return refusal, time.process_time() - begun, int(status.split("VmHWM:")[1].split()[0]) / 1024

for path in sys.argv[1:]:
    if not os.fork():
        print(json.dumps([os.path.basename(path), *measure(path)]), flush=True)
        os._exit(0)
    os.wait()
"""
"""A process of its own for each file, whose peak of memory is that of the file."""


@contextmanager
def soon() -> Iterator[None]:
    """What happens here takes little time of the processor, however busy the machine is."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < SECONDS


@contextmanager
def within(size: int) -> Iterator[None]:
    """What happens here holds at most `size` bytes at a time."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < size
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_every_kind_is_opened_or_refused_at_once(tmp_path: Path) -> None:
    for name, make in FILES.items():
        (tmp_path / name).write_bytes(make())
    done = subprocess.run(
        [sys.executable, "-c", OPEN, *(tmp_path / name for name in FILES)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    measured = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, *_ in measured] == list(FILES), done.stderr
    assert [(name, refusal) for name, refusal, *_ in measured if "\n" in refusal] == [], "one sentence"
    assert [(name, seconds) for name, _, seconds, _ in measured if seconds >= SECONDS] == []
    assert [(name, size) for name, *_, size in measured if size >= MEGABYTES] == []


# ---- XMP


@pytest.mark.parametrize(
    "packet",
    [
        hostile.unclosed_elements(),
        hostile.unclosed_names(),
        hostile.nested_elements(),
        hostile.unclosed_attributes(),
        b"hdrgm:" + b"<hdrgm:a " * 100_000,
        b"hdrgm:" + b"<hdrgm:a " + b"a" * 500_000,
        b"hdrgm:" + b"<hdrgm:" + b"a" * 500_000,
        b"hdrgm:" + b" hdrgm" * 100_000,
        b"hdrgm:" + b'tiff:Orientation = "' * 50_000 + b"tiff:Orientation" + b" " * 500_000,
    ],
    ids=lambda packet: packet[:24].decode(),
)
def test_xmp_is_read_in_linear_time(packet: bytes) -> None:
    with soon():
        assert metadata.remove_stale_references(metadata.reset_xmp_orientation(packet))


def test_an_element_ends_where_it_is_closed_first() -> None:
    packet = b"<a><hdrgm:b><hdrgm:b>x</hdrgm:b>y<hdrgm:c/>z<hdrgm:d></a>"
    assert metadata.remove_stale_references(packet) == b"<a>yz<hdrgm:d></a>", "one that is never closed stays"


def test_a_packet_that_is_too_large_is_left_out_and_said() -> None:
    found = read_xmp(b"x" * (formats.MAX_XMP_BYTES + 1))
    assert found.packet is None
    assert found.notes == (f"the XMP data has more than {formats.MAX_XMP_BYTES} bytes and was left out",)


# ---- EXIF and TIFF


def test_overlapping_values_are_not_copied() -> None:
    block = hostile.overlapping_block()
    with within(3 * len(block)):
        assert read_exif(block).notes == (DAMAGED_EXIF_NOTE,)


def test_values_of_a_linked_directory_may_overlap_no_more_than_those_of_the_first() -> None:
    block = hostile.overlapping_block(200_000, 1000)
    first = struct.pack("<HHHLLL", 1, 0x8769, 4, 1, 8, 0)
    linked = block[:4] + struct.pack("<L", len(block)) + block[8:] + first
    with within(3 * len(linked)):
        assert read_exif(linked).notes == (DAMAGED_EXIF_NOTE,)


def test_only_so_many_entries_are_read() -> None:
    table = b"".join(struct.pack("<HHLL", tag, 3, 1, 0) for tag in range(tiff.MAX_DIRECTORY_ENTRIES + 1))
    block = b"II*\0\x08\0\0\0" + struct.pack("<H", len(table) // 12) + table + bytes(4)
    with pytest.raises(tiff.MalformedError, match="too many entries"):
        tiff.read_first_directory(block)
    assert read_exif(block).notes == (DAMAGED_EXIF_NOTE,)


def test_a_prefix_is_taken_off_twice_and_no_more() -> None:
    block = exif_block()
    assert metadata.strip_exif_prefix(b"Exif\0\0" * 2 + block) == block
    with soon():
        assert metadata.strip_exif_prefix(hostile.prefixed_block()).startswith(b"Exif\0\0")


def test_many_values_are_packed_in_linear_time() -> None:
    entries = [tiff.TiffEntry(tag, tiff.UNDEFINED, 2000, bytes(2000)) for tag in range(4000)]
    with soon():
        assert len(tiff.pack_directory(entries, 8, "<")) == 6 + 4000 * (12 + 2000)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (hostile.exif_tiff, "values of its TIFF or EXIF entries overlap"),
        (hostile.big_tiff, "values of its TIFF or EXIF entries overlap"),
        (hostile.exif_jpeg, "values of its TIFF or EXIF entries overlap"),
        (hostile.big_tiff_exif, "values of its TIFF or EXIF entries overlap"),
        (hostile.crowded_tiff, "more than 16 TIFF or EXIF directories"),
        (lambda: hostile.exif_jpeg(hostile.crowded_directories()), "more than 16 TIFF or EXIF directories"),
        (hostile.endless_big_tiff, "more than 4096 TIFF or EXIF entries"),
        (hostile.many_entries_tiff, "more than 4096 TIFF or EXIF entries"),
        (hostile.many_strips_tiff, "more than 250000 numbers"),
        (lambda: hostile.many_strips_tiff(200_000), "more than 100000 strips"),
    ],
)
def test_directories_without_end_are_refused_in_one_sentence(
    tmp_path: Path, make: Callable[[], bytes], reason: str
) -> None:
    path = tmp_path / "photo.bin"
    path.write_bytes(make())
    with soon(), pytest.raises(ImageError) as refusal:
        open_image(path)
    assert str(refusal.value).startswith(f"{path} cannot be read as a photo: ")
    assert reason in str(refusal.value)
    assert str(refusal.value).endswith("; re-save it with another program.")


@pytest.mark.parametrize("megabytes", [1, 4])
def test_the_entries_looked_at_do_not_grow_with_the_file(
    monkeypatch: pytest.MonkeyPatch, megabytes: int
) -> None:
    looked_at = 0

    def count(*arguments: object) -> Iterator[tiff.TiffEntry]:
        nonlocal looked_at
        for entry in entries(*arguments):
            looked_at += 1
            yield entry

    entries: Callable[..., Iterator[tiff.TiffEntry]] = tiff._iterate_entries
    monkeypatch.setattr(tiff, "_iterate_entries", count)
    found = read_exif(hostile.crowded_directories(megabytes * hostile.MIB))
    assert found.notes == (DAMAGED_EXIF_NOTE,)
    assert looked_at <= tiff.MAX_DIRECTORIES * tiff.MAX_DIRECTORY_ENTRIES


@pytest.mark.parametrize("order", ["<", ">"])
def test_ordinary_directories_are_not_refused(order: str) -> None:
    formats.check_structure(tiff_file(photo(), order=order))
    tiff.check_tiff_structure(exif_block(order=order))
    formats.check_structure(encode(photo(), "JPEG", exif=b"Exif\0\0" + exif_block(order=order)))


def test_a_big_tiff_is_still_read(tmp_path: Path) -> None:
    PIL.Image.fromarray(photo()).save(tmp_path / "a.tif", big_tiff=True)
    np.testing.assert_array_equal(open_image(tmp_path / "a.tif").pixels, photo())


# ---- pages and frames


def test_pages_are_counted_without_reading_them() -> None:
    with soon():
        pages = metadata._count_further_pages(hostile.chained_pages())
    assert (
        metadata.describe_left_out_pictures(pages, "page")
        == "more than 10000 pages were left out: only the first is edited"
    )


def test_a_page_that_leads_back_to_itself_is_no_other_page(tmp_path: Path) -> None:
    (tmp_path / "a.tif").write_bytes(hostile.circling_pages())
    assert open_image(tmp_path / "a.tif").notes == ()


def test_frames_count_with_or_without_a_control_block() -> None:
    control = b"\x21\xf9\x04\0\0\0\0\0"
    bare = hostile.bare_frames_gif(3)
    assert formats.count_gif_frames(bare) == 3
    assert formats.count_gif_frames(bare.replace(b",\0\0\0\0", control + b",\0\0\0\0")) == 3
    with soon():
        assert formats.count_gif_frames(hostile.bare_frames_gif()) == formats.MAX_PAGES + 2


@pytest.mark.parametrize("frames", [1, 2, 7])
def test_frames_are_counted_as_pillow_does(frames: int) -> None:
    stream = io.BytesIO()
    pictures = [PIL.Image.fromarray(photo() // (number + 1)) for number in range(frames)]
    pictures[0].save(stream, "GIF", save_all=True, append_images=pictures[1:], comment=b"x" * 600)
    assert formats.count_gif_frames(stream.getvalue()) == frames


@pytest.mark.parametrize("length", [0, 5, 10, 12, 13, 20, 24])
def test_a_gif_that_ends_early_is_counted_as_far_as_it_goes(length: int) -> None:
    assert formats.count_gif_frames(hostile.bare_frames_gif(1)[:length]) <= 1


# ---- other containers


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: hostile.empty_segments_jpeg(formats.MAX_SEGMENTS), "more than 10000 JPEG segments"),
        (
            lambda: hostile.junk_jpeg(formats.MAX_JUNK_BYTES + 9),
            "more than 262144 bytes between its segments",
        ),
        (lambda: hostile.filled_jpeg(formats.MAX_JUNK_BYTES), "262144 fill bytes in a row"),
        (lambda: hostile.many_scans_jpeg(formats.MAX_SCANS), "progressive JPEG with more than 32 scans"),
        (lambda: hostile.empty_chunks_png(formats.MAX_CHUNKS), "more than 100000 PNG chunks"),
        (lambda: hostile.profiled_png(formats.MAX_PROFILES + 1), "more than 16 colour profiles"),
        (
            lambda: hostile.commented_gif(formats.MAX_COMMENT_BLOCKS + 1),
            "more than 4096 blocks of comments",
        ),
        (hostile.wide_bmp, "it is 16000000 x 2 pixels, and a side has at most 1000000; crop it"),
        (lambda: hostile.run_length_bmp(1500), "run-length encoded BMP of more than 4194304 bytes"),
    ],
)
def test_parts_without_end_are_refused(tmp_path: Path, make: Callable[[], bytes], reason: str) -> None:
    path = tmp_path / "photo.bin"
    path.write_bytes(make())
    with soon(), pytest.raises(ImageError, match=reason):
        open_image(path)


def test_a_film_behind_a_photo_is_not_taken_for_scans(tmp_path: Path) -> None:
    """A motion photo: any bytes follow the picture, markers of scans among them."""
    path = tmp_path / "motion.jpg"
    path.write_bytes(encode(photo(), "JPEG") + b"\xff\xda\0\x08film" * 1000)
    assert open_image(path).shape == photo().shape


def test_ordinary_files_are_within_all_limits() -> None:
    for name in ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF"):
        formats.check_structure(encode(photo(), name))
    progressive = encode(photo(200, 300), "JPEG", progressive=True, icc_profile=profile() + bytes(200_000))
    formats.check_structure(progressive)


def test_a_profile_of_each_kind_is_still_read(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(encode(photo(), "PNG", icc_profile=profile()))
    assert open_image(tmp_path / "a.png").origin.icc == profile()
    assert png_chunk(b"IEND", b"") in (tmp_path / "a.png").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["exif-itself.png", "exif-itself.jpg", "exif-counts.png", "xmp-names.webp"])
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif", ".webp", ".avif"])
def test_what_was_opened_is_saved_at_once(tmp_path: Path, name: str, suffix: str) -> None:
    (tmp_path / name).write_bytes(FILES[name]())
    image = open_image(tmp_path / name)
    with soon():
        image.with_pixels(image.pixels.copy()).save(tmp_path / f"out{suffix}")
    assert open_image(tmp_path / f"out{suffix}").shape == image.shape
