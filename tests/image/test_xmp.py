"""XMP: text that stays as it was written, but for what is no longer true."""

from xml.etree import ElementTree

import pytest

from t2onet.image import metadata

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
