"""The darkroom's page as files: nothing from elsewhere, nothing inline, nothing that is not used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from t2onet.options import MODES
from t2onet.server.app import STATIC

FILES = sorted(path for path in STATIC.rglob("*") if path.is_file())
TEXTS = {path: path.read_text(encoding="utf-8") for path in FILES}
SVG = "http://www.w3.org/2000/svg"


def to_url_path(path: Path) -> str:
    return f"/{path.relative_to(STATIC).as_posix()}"


@pytest.mark.parametrize("path", FILES, ids=to_url_path)
def test_a_file_needs_nothing_from_elsewhere_and_makes_no_markup_of_text(path: Path) -> None:
    text = TEXTS[path].replace(SVG, "")
    assert not re.search(r"https?:|//[a-z]+\.", text)
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
    )
    if path.suffix == ".html":
        assert not re.search(r"<script(?! type=\"module\" src=\"/js/)|<style|\sstyle=|\son\w+=", text)


@pytest.mark.parametrize("path", FILES, ids=to_url_path)
def test_a_file_is_one_thought(path: Path) -> None:
    assert len(TEXTS[path].splitlines()) <= 200
    if path.suffix in (".js", ".css"):
        assert TEXTS[path].startswith("/* "), "it begins with what it is about"


def test_every_file_is_used_and_every_use_is_a_file() -> None:
    used = {"/index.html"}
    for path, text in TEXTS.items():
        if path.suffix == ".js":
            used |= {f"/js/{name}" for name in re.findall(r'from "\./([\w.]+)"', text)}
        used |= {found.split("#")[0] for found in re.findall(r'(?:src|href)="(/[^"]+)"', text)}
        used |= set(re.findall(r'url\("(/[^"]+)"\)', text))
    used |= {"/icons.svg"}
    assert used == {to_url_path(path) for path in FILES}


def test_every_icon_is_drawn_and_used() -> None:
    drawn = set(re.findall(r'symbol id="(\w+)"', TEXTS[STATIC / "icons.svg"]))
    used = {
        name
        for text in TEXTS.values()
        for name in re.findall(r'(?:icons\.svg#|icon(?:Button)?\(")(\w+)', text)
    }
    assert drawn == used


def test_every_element_that_is_looked_for_is_there() -> None:
    made = set(re.findall(r'\bid="([\w-]+)"', TEXTS[STATIC / "index.html"]))
    sought = {name for text in TEXTS.values() for name in re.findall(r'byId\("([\w-]+)"\)', text)}
    assert sought <= made


def test_the_page_offers_the_declared_modes() -> None:
    page = TEXTS[STATIC / "index.html"]
    choices = page[page.index('<select id="mode"') :].split("</select>")[0]
    assert re.findall(r'<option value="(\w+)"', choices) == list(MODES)
