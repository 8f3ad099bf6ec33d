"""Files and recipes that ask for far more work than their size suggests, one function for each kind.

Every photo is a small picture in an ordinary container: what is hostile is the structure around it.
`FILES` lists all photos by name; the sizes are those at which careless readers take minutes or gigabytes.
"""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import PIL.Image

from t2onet.image.formats import PNG_SIGNATURE
from tests.image.helpers import directory, encode, photo, png_chunk, profile, tiff_file

MIB = 2**20
_TIFF = b"II*\0\x08\0\0\0"


# ---- XMP


def unclosed_elements(count: int = 20_000) -> bytes:
    """A packet that speaks of a gain map and opens an element again and again without closing it."""
    return b"hdrgm:" + b"<Container:Directory " * count


def unclosed_names(count: int = 20_000) -> bytes:
    """As many different elements, all opened, none closed."""
    return b"hdrgm:" + b"".join(b"<hdrgm:a%d>" % number for number in range(count))


def nested_elements(count: int = 20_000) -> bytes:
    """Elements inside each other, closed in the wrong order."""
    return b"hdrgm:" + b"<hdrgm:a>" * count + b"</hdrgm:b>" * count + b"</hdrgm:a>"


def unclosed_attributes(count: int = 40_000) -> bytes:
    """Attributes whose values never end, with room around the sign."""
    return b"hdrgm:" + b" hdrgm:a" * count + b" " * count + b" hdrgm:a = '" * count


def xmp_webp(packet: bytes | None = None) -> bytes:
    return encode(photo(), "WEBP", xmp=unclosed_elements() if packet is None else packet)


def xmp_png(packet: bytes | None = None) -> bytes:
    text = b"XML:com.adobe.xmp\0\0\0\0\0" + (unclosed_elements() if packet is None else packet)
    return _png((b"iTXt", text))


def xmp_tiff(packet: bytes | None = None) -> bytes:
    return tiff_file(photo(), tags=[(700, 1, unclosed_elements() if packet is None else packet)])


def xmp_jpeg() -> bytes:
    packet = unclosed_elements(3000)
    return _jpeg(_segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + packet))


# ---- EXIF and TIFF entries


def overlapping_block(size: int = 2 * MIB, entries: int = 2000) -> bytes:
    """A TIFF structure whose entries all have the whole of it as their value."""
    table = b"".join(struct.pack("<HHLL", 40_000 + tag, 7, size - 8, 8) for tag in range(entries))
    block = _TIFF + struct.pack("<H", entries) + table + b"\0\0\0\0"
    return block.ljust(size, b"\0")


def self_pointing_block(size: int = MIB) -> bytes:
    """An EXIF block whose Exif, GPS and other sub-directories are its own first directory."""
    entries = [(tag, 4, struct.pack("<L", 8)) for tag in (330, 0x8769, 0x8825, 0xA005)]
    block = _TIFF + directory(entries, 8, "<", link=8)
    return block.ljust(size, b"\0")


def prefixed_block(count: int = 300_000) -> bytes:
    """The prefix of an EXIF block over and over."""
    return b"Exif\0\0" * count + overlapping_block(200, 1)


def counting_block() -> bytes:
    """Entries that claim 2^32 - 1 values each."""
    table = b"".join(struct.pack("<HHLL", 270 + tag, 5, 2**32 - 1, 8) for tag in range(3000))
    return _TIFF + struct.pack("<H", 3000) + table + b"\0\0\0\0"


def crowded_directories(size: int = 2 * MIB) -> bytes:
    """Entries that each point to a directory of up to 4096 entries; all of these overlap.

    A directory begins in the last two bytes of a pointer, which are its count of entries, and its entries are
    the pointers that follow.
    """
    starts = [at for at in range(18, size - 12, 12) if 2000 < at % 65_536 <= 4096]
    entries = b"".join(
        struct.pack(">HHLL", 0x8769, 4, 1, starts[number * 7919 % len(starts)])
        for number in range((size - 8) // 12)
    )
    return b"MM\0*" + struct.pack(">L", starts[0]) + entries


def crowded_tiff() -> bytes:
    """A photo whose pixels are such entries, and whose Exif pointer leads to one of their directories."""
    height, width = 700, 1000
    block = crowded_directories(8 + 3 * height * width)
    pixels = np.frombuffer(block[8:], np.uint8).reshape(height, width, 3)
    return tiff_file(pixels, order=">", tags=[(0x8769, 4, block[4:8])])


def big_tiff_exif(size: int = 2 * MIB, entries: int = 2000) -> bytes:
    """A BigTIFF whose Exif pointer, of four bytes, leads to entries that each hold the whole file."""
    head = b"II+\0" + struct.pack("<HHQ", 8, 0, 16)
    first = struct.pack("<QHHQQQ", 1, 0x8769, 4, 1, 52, 0)
    table = b"".join(struct.pack("<HHQQ", 40_000 + tag, 7, size - 16, 16) for tag in range(entries))
    return (head + first + struct.pack("<Q", entries) + table + bytes(8)).ljust(size, b"\0")


def exif_png(block: bytes | None = None) -> bytes:
    return _png((b"eXIf", overlapping_block() if block is None else block))


def exif_text_png() -> bytes:
    """EXIF as old tools hid it, in text that is nothing but line ends."""
    return _png((b"tEXt", b"Raw profile type exif\0" + b"\n" * (30 * MIB)))


def exif_webp(block: bytes | None = None) -> bytes:
    return encode(photo(), "WEBP", exif=overlapping_block() if block is None else block)


def exif_jpeg(block: bytes | None = None) -> bytes:
    """The block in as many segments as it needs, which Pillow puts together."""
    block = overlapping_block() if block is None else block
    parts = [block[start : start + 65_000] for start in range(0, len(block), 65_000)]
    return _jpeg(b"".join(_segment(0xE1, b"Exif\0\0" + part) for part in parts))


def exif_tiff(size: int = 2 * MIB, entries: int = 2000) -> bytes:
    """A photo with entries that each have the whole file as their value."""
    samples = photo()
    base = tiff_file(samples)
    start = 8 + samples.nbytes
    own = base[start + 2 : start + 2 + 12 * struct.unpack_from("<H", base, start)[0]]
    tags = [struct.pack("<HHLL", 40_000 + tag, 7, size - 8, 8) for tag in range(entries)]
    # The values of the photo's own entries lie behind its directory, which goes to the end of the file.
    table = struct.pack("<H", len(own) // 12 + entries) + own + b"".join(tags) + b"\0\0\0\0"
    data = base.ljust(size, b"\0") + table
    return data[:4] + struct.pack("<L", size) + data[8:]


def big_tiff(size: int = 2 * MIB, entries: int = 2000) -> bytes:
    """The same in a BigTIFF."""
    table = b"".join(struct.pack("<HHQQ", 40_000 + tag, 7, size - 16, 16) for tag in range(entries))
    head = b"II+\0" + struct.pack("<HHQ", 8, 0, 16)
    return (head + struct.pack("<Q", entries) + table + bytes(8)).ljust(size, b"\0")


def endless_big_tiff(size: int = 8 * MIB) -> bytes:
    """A BigTIFF that claims 2^62 entries."""
    return (b"II+\0" + struct.pack("<HHQQ", 8, 0, 16, 2**62)).ljust(size, b"\1")


def many_entries_tiff() -> bytes:
    """65,535 entries, more than any photo has."""
    table = b"".join(struct.pack("<HHLL", tag, 7, 6, 8) for tag in range(65_535))
    return _TIFF + struct.pack("<H", 65_535) + table + b"\0\0\0\0"


def many_strips_tiff(strips: int = 4_000_000) -> bytes:
    """A small picture in millions of strips."""
    return tiff_file(photo(), tags=[(273, 4, struct.pack("<L", 8) * strips), (278, 4, b"\1\0\0\0")])


def many_channels_tiff() -> bytes:
    """Deep planes, three as the first entry has it and 2^32 - 1 as a second entry does."""
    data = tiff_file(photo(dtype=np.uint16), tags=[(284, 3, b"\2\0")])
    start = struct.unpack_from("<L", data, 4)[0]
    count = struct.unpack_from("<H", data, start)[0]
    table = data[start + 2 : start + 2 + 12 * count]
    at = len(data)
    more = struct.pack("<HHLL", 277, 4, 1, 2**32 - 1)
    return (
        data[:4]
        + struct.pack("<L", at)
        + data[8:]
        + struct.pack("<H", count + 1)
        + table
        + more
        + b"\0\0\0\0"
    )


# ---- pages and frames


def chained_pages(pages: int = 80_000) -> bytes:
    """Pages whose directories of 65,535 entries overlap, each linking to the next."""
    first = tiff_file(photo())
    first += b"\0" * (-len(first) % 4)
    start = len(first)
    length = 2 + 12 * 65_535
    places = np.arange(pages + 1, dtype="<u4") * 4 + start
    data = bytearray(first.ljust(start + 4 * pages + length + 4, b"\0"))
    data[start : start + 4 * pages] = b"\xff" * (4 * pages)
    links = places[1:].copy()
    links[-1] = 0
    data[start + length : start + length + 4 * pages] = links.tobytes()
    link = struct.unpack_from("<L", first, 4)[0]
    link += 2 + 12 * struct.unpack_from("<H", first, link)[0]
    struct.pack_into("<L", data, link, start)
    return bytes(data)


def small_pages(pages: int = 80_000) -> bytes:
    """Pages of one entry each, each linking to the next."""
    first = tiff_file(photo())
    start = len(first)
    links = [start + 18 * (number + 1) for number in range(pages - 1)] + [0]
    rest = b"".join(struct.pack("<HHHLLL", 1, 256, 4, 1, 8, link) for link in links)
    link = struct.unpack_from("<L", first, 4)[0]
    link += 2 + 12 * struct.unpack_from("<H", first, link)[0]
    return first[:link] + struct.pack("<L", start) + first[link + 4 :] + rest


def circling_pages() -> bytes:
    """A page that links to itself."""
    data = bytearray(tiff_file(photo()))
    start = struct.unpack_from("<L", data, 4)[0]
    struct.pack_into("<L", data, start + 2 + 12 * struct.unpack_from("<H", data, start)[0], start)
    return bytes(data)


_GIF = b"GIF89a\x02\0\x02\0\x80\0\0\0\0\0\xff\xff\xff"
_GIF_FRAME = b"\x2c\0\0\0\0\x02\0\x02\0\0\x02\x03\x44\x02\x05\0"


def bare_frames_gif(frames: int = 300_000) -> bytes:
    """Frames without a graphic control block."""
    return _GIF + _GIF_FRAME * frames + b";"


def commented_gif(blocks: int = 2_000_000) -> bytes:
    """A comment in pieces of one byte before the first frame."""
    return _GIF + b"\x21\xfe" + b"\x01x" * blocks + b"\0" + _GIF_FRAME + b";"


def split_gif(blocks: int = 8_000_000) -> bytes:
    """A frame followed by empty room in pieces of one byte."""
    return _GIF + _GIF_FRAME + b"\x21\xff" + b"\x01x" * blocks + b"\0" + _GIF_FRAME + b";"


def animated_png(frames: int = 200_000) -> bytes:
    """An APNG of chunks without end."""
    control = struct.pack(">LLLLLHHBB", 0, 36, 24, 0, 0, 1, 10, 0, 0)
    head = (b"acTL", struct.pack(">LL", frames, 0))
    return _png(head, *[(b"fcTL", control)] * frames)


def many_pictures_mpo(pictures: int = 4000) -> bytes:
    """A JPEG whose index lists thousands of further pictures."""
    listed = b"".join(struct.pack("<LLLHH", 0, 100, 8, 0, 0) for _ in range(pictures))
    entries = [(0xB000, 7, b"0100"), (0xB001, 4, struct.pack("<L", pictures)), (0xB002, 7, listed)]
    return _jpeg(_segment(0xE2, b"MPF\0" + _TIFF + directory(entries, 8, "<")))


# ---- other containers


def profiled_png(profiles: int = 2000) -> bytes:
    """A colour profile that unfolds to a million bytes, again and again."""
    packed = b"x\0\0" + zlib.compress(profile() + bytes(900_000), 9)
    return _png(*[(b"iCCP", packed)] * profiles)


def large_profile_webp(size: int = 30 * MIB) -> bytes:
    """A colour profile far larger than the picture."""
    return encode(photo(), "WEBP", icc_profile=profile() + bytes(size))


def empty_chunks_png(chunks: int = 2_000_000) -> bytes:
    chunk = png_chunk(b"teSt", b"")
    return _png((b"teSt", b""), more=chunk * chunks)


def empty_segments_jpeg(segments: int = 4_000_000) -> bytes:
    return _jpeg(b"\xff\xe5\0\x02" * segments)


def junk_jpeg(size: int = 60 * MIB) -> bytes:
    """Nothing between the segments, for long."""
    return _jpeg(_segment(0xE0, b"") + b"\0" * size)


def filled_jpeg(size: int = 30 * MIB) -> bytes:
    """Fill bytes before a marker that never comes."""
    return encode(photo(), "JPEG")[:-2] + b"\xff" * size


def many_scans_jpeg(scans: int = 1000) -> bytes:
    """A progressive JPEG whose last scan is repeated."""
    data = encode(photo(), "JPEG", progressive=True)
    scan = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + scan * scans + data[-2:]


def wide_bmp(width: int = 16_000_000) -> bytes:
    """Two rows of millions of pixels."""
    stride = 3 * width + (-3 * width) % 4
    header = struct.pack("<LHHL", 54 + 2 * stride, 0, 0, 54)
    shape = struct.pack("<LllHHLLllLL", 40, width, 2, 1, 24, 0, 2 * stride, 0, 0, 0, 0)
    return b"BM" + header + shape + bytes(2 * stride)


def run_length_bmp(side: int = 4000) -> bytes:
    """A BMP in runs of one pixel, which are decoded one by one."""
    runs = b"\x01\x07" * (side * side)
    palette = bytes(1024)
    start = 54 + len(palette)
    header = struct.pack("<LHHL", start + len(runs), 0, 0, start)
    shape = struct.pack("<LllHHLLllLL", 40, side, side, 1, 8, 1, len(runs), 0, 0, 256, 0)
    return b"BM" + header + shape + palette + runs


FILES: dict[str, Callable[[], bytes]] = {
    "xmp-elements.webp": xmp_webp,
    "xmp-elements.png": xmp_png,
    "xmp-elements.tif": xmp_tiff,
    "xmp-elements.jpg": xmp_jpeg,
    "xmp-names.webp": lambda: xmp_webp(unclosed_names()),
    "xmp-nested.webp": lambda: xmp_webp(nested_elements()),
    "xmp-attributes.webp": lambda: xmp_webp(unclosed_attributes()),
    "xmp-large.webp": lambda: xmp_webp(unclosed_elements(1_500_000)),
    "exif-overlapping.png": exif_png,
    "exif-overlapping.webp": exif_webp,
    "exif-overlapping.jpg": exif_jpeg,
    "exif-overlapping.tif": exif_tiff,
    "exif-overlapping-big.tif": big_tiff,
    "exif-endless-big.tif": endless_big_tiff,
    "exif-itself.png": lambda: exif_png(self_pointing_block()),
    "exif-itself.jpg": lambda: exif_jpeg(self_pointing_block()),
    "exif-crowded.png": lambda: exif_png(crowded_directories()),
    "exif-crowded.webp": lambda: exif_webp(crowded_directories()),
    "exif-crowded.jpg": lambda: exif_jpeg(crowded_directories()),
    "exif-crowded.tif": crowded_tiff,
    "exif-big.tif": big_tiff_exif,
    "exif-prefixed.png": lambda: exif_png(prefixed_block()),
    "exif-counts.png": lambda: exif_png(counting_block()),
    "exif-counts.tif": counting_block,
    "exif-lines.png": exif_text_png,
    "entries.tif": many_entries_tiff,
    "strips.tif": many_strips_tiff,
    "channels.tif": many_channels_tiff,
    "pages-overlapping.tif": chained_pages,
    "pages-small.tif": small_pages,
    "pages-circling.tif": circling_pages,
    "frames.gif": bare_frames_gif,
    "comment.gif": commented_gif,
    "pieces.gif": split_gif,
    "frames.png": animated_png,
    "pictures.jpg": many_pictures_mpo,
    "profiles.png": profiled_png,
    "profile.webp": large_profile_webp,
    "chunks.png": empty_chunks_png,
    "segments.jpg": empty_segments_jpeg,
    "junk.jpg": junk_jpeg,
    "fill.jpg": filled_jpeg,
    "scans.jpg": many_scans_jpeg,
    "wide.bmp": wide_bmp,
    "runs.bmp": run_length_bmp,
}


# ---- recipes


def long_recipe(steps: int = 200_000) -> bytes:
    """The JSON of a recipe with far too many steps."""
    step = {"operation": "brightness", "parameters": [0.1]}
    return json.dumps({"schema_version": 1, "steps": [step] * steps}).encode()


def masked_recipe(steps: int = 32, side: int = 1000, feather: float = 4.0) -> dict[str, Any]:
    """A recipe whose steps each have a mask of their own over the whole photo."""
    names = ("brightness", "contrast", "saturation", "sharpness")
    made = []
    for number in range(steps):
        mask = {"png": grey_png(side, number), "feather": feather}
        made.append({"operation": names[number % 4], "parameters": [0.1], "mask": mask})
    return {"schema_version": 1, "steps": made}


def grey_png(side: int, number: int, box: tuple[int, int, int, int] | None = None) -> str:
    """A mask in base64: a ramp that differs by number, black outside `box`."""
    ramp = np.add.outer(np.arange(side), np.arange(side)) * 100 // side + number + 1
    top, left, bottom, right = box or (0, 0, side, side)
    inside = np.zeros_like(ramp)
    inside[top:bottom, left:right] = ramp[top:bottom, left:right]
    stream = io.BytesIO()
    PIL.Image.fromarray(inside.astype(np.uint8)).save(stream, "PNG")
    return base64.b64encode(stream.getvalue()).decode()


# ---- masks


def half_mask(height: int = 8, width: int = 12) -> np.ndarray:
    """(height, width): white on the left, black on the right."""
    levels = np.zeros((height, width), np.uint8)
    levels[:, : width // 2] = 255
    return levels


def claimed_mask(side: int = 60_000) -> bytes:
    """A few bytes that claim thousands of megapixels."""
    header = struct.pack(">LLBBBBB", side, side, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(100))), (b"IEND", b"")]
    return PNG_SIGNATURE + b"".join(png_chunk(name, data) for name, data in chunks)


def _layers(*layers: np.ndarray) -> bytes:
    return encode(np.dstack(layers), "PNG")


def _palette(colour: tuple[int, int, int], **options: Any) -> bytes:
    """The half mask as numbers of black and a colour."""
    picture = PIL.Image.fromarray(half_mask() // 255, "L").convert("P")
    picture.putpalette([0, 0, 0, *colour])
    stream = io.BytesIO()
    picture.save(stream, "PNG", **options)
    return stream.getvalue()


_HALF, _ALL = half_mask(), np.full((8, 12), 255, np.uint8)
_DAMAGED = "its PNG is damaged or none at all"

USED_MASKS: dict[str, tuple[Callable[[], bytes], tuple[int, int]]] = {
    "another size": (lambda: encode(half_mask(50, 20), "PNG"), (255, 0)),
    "white": (lambda: encode(_ALL, "PNG"), (255, 255)),
    "grey": (lambda: encode(_ALL // 2, "PNG"), (127, 127)),
    "1 bit": (lambda: encode(_HALF > 0, "PNG"), (255, 0)),
    "16 bits": (lambda: encode(_HALF.astype(np.uint16) * 129, "PNG"), (128, 0)),
    "opaque": (lambda: _layers(_HALF, _HALF, _HALF, _ALL), (255, 0)),
    "colour": (lambda: _layers(_HALF, _HALF * 0, _HALF * 0), (85, 0)),
    "grey palette": (lambda: _palette((64, 64, 64)), (64, 0)),
    "colour palette": (lambda: _palette((255, 0, 255)), (170, 0)),
    "2 pixels": (lambda: encode(half_mask(2, 2), "PNG"), (255, 0)),
    "cut off after its pixels": (lambda: encode(_HALF, "PNG")[:-12], (255, 0)),
}
"""Masks that are used, by name: the file, and its levels at the left and right border of a photo."""

REFUSED_MASKS: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "transparent": (lambda: _layers(_HALF, _HALF, _HALF, _ALL - 1), *["partly transparent"] * 2),
    "transparent palette": (lambda: _palette((255, 255, 255), transparency=0), *["partly transparent"] * 2),
    "cut off": (lambda: encode(photo(200, 300)[..., 0], "PNG")[:500], _DAMAGED, "ends early"),
    "flipped bytes": (lambda: encode(_HALF, "PNG")[:50].ljust(80, b"\xff"), _DAMAGED, "is damaged"),
    "empty": (lambda: b"", _DAMAGED, "is empty (0 bytes)"),
    "text": (lambda: b"white on the left", _DAMAGED, "does not look like a photo"),
    "huge": (claimed_mask, "more pixels than a photo may have", "3600 megapixels"),
    "many chunks": (lambda: empty_chunks_png(120_000), "PNG chunks", "PNG chunks"),
}
"""Masks that are refused: the file, and words of the reason inside a recipe and as a file of its own."""


# ---- parts


def _png(*chunks: tuple[bytes, bytes], more: bytes = b"") -> bytes:
    """A small picture with further chunks behind its header."""
    data = encode(photo(), "PNG")
    return data[:33] + b"".join(png_chunk(name, value) for name, value in chunks) + more + data[33:]


def _jpeg(segments: bytes) -> bytes:
    """A small picture with further segments, and no density that would spare a look at its EXIF block."""
    data = encode(photo(), "JPEG")
    jfif = 4 + struct.unpack_from(">H", data, 4)[0]
    return data[:2] + segments + data[jfif:]


def _segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data
