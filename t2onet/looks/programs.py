"""Settings files of RawTherapee (.pp3) and darktable (.xmp) that apply a HaldCLUT from their folder."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

_PP3 = """[Version]
AppVersion=5.9
Version=349

[Film Simulation]
Enabled=true
ClutFilename={table}
Strength=100

[Color Management]
WorkingProfile=sRGB
OutputProfile=RTv4_sRGB
"""

_LUT3D_VERSION = 3
_LUT3D = struct.Struct("<512s i i i 12288s 128s")
"""Parameters of darktable's module: file, colour space (sRGB), interpolation (tetrahedral), keypoints (none),
and a compressed table with its name (none)."""
_XMP = """<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:darktable="http://darktable.sf.net/"
    darktable:xmp_version="5" darktable:auto_presets_applied="1" darktable:history_end="1">
   <darktable:history>
    <rdf:Seq>
     <rdf:li darktable:num="0" darktable:operation="lut3d" darktable:enabled="1"
      darktable:modversion="{version}" darktable:params="{parameters}"
      darktable:multi_name="" darktable:multi_priority="0"/>
    </rdf:Seq>
   </darktable:history>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
"""


@dataclass(frozen=True)
class SettingsFormat:
    """A program's settings file: its text, which names a HaldCLUT, and its folder of those."""

    format: Callable[[str], str]
    """File name of the HaldCLUT -> text."""
    folder: str
    """Where the program looks for the HaldCLUT."""

    def explain_table(self, name: str, table: str) -> str:
        """What to do with the HaldCLUT `table` that the settings file `name` applies."""
        return f"{name} applies {table}: move that to {self.folder}"


def format_pp3(table: str) -> str:
    """Film Simulation at full strength, in the colour space that the HaldCLUT is made for."""
    escaped = table.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return _PP3.format(table="\\s" + escaped[1:] if escaped.startswith(" ") else escaped)


def format_xmp(table: str) -> str:
    """A history of one step: the module "LUT 3D"."""
    parameters = _LUT3D.pack(table.encode(), 0, 0, 0, b"", b"")
    return _XMP.format(version=_LUT3D_VERSION, parameters=parameters.hex())


SETTINGS_FORMATS = {
    ".pp3": SettingsFormat(
        format_pp3, "RawTherapee's folder of HaldCLUTs (Preferences, Image Processing, Film Simulation)"
    ),
    ".xmp": SettingsFormat(
        format_xmp, "darktable's folder of 3D LUTs (preferences, processing, LUT 3D root folder)"
    ),
}
"""File ending -> settings file of a program that applies a HaldCLUT."""
