"""The public names of t2onet.image, and what an import of it loads."""

import subprocess
import sys

import t2onet.image


def test_public_names() -> None:
    assert set(t2onet.image.__all__) == {
        "RAW_SUFFIXES",
        "READABLE_SUFFIXES",
        "WRITABLE_SUFFIXES",
        "Image",
        "SavedFile",
        "check_regular_file",
        "check_writable",
        "choose_output_suffix",
        "has_readable_suffix",
        "image_from_array",
        "open_image",
        "open_regular_file",
        "read_regular_file",
        "write_atomically",
    }


def test_the_import_loads_nothing_heavy_or_optional() -> None:
    script = (
        "import sys, t2onet.image;"
        "heavy = 'numba', 'torch', 'scipy', 'pydantic', 'pillow_heif', 'rawpy';"
        "print([name for name in heavy if name in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "[]"
