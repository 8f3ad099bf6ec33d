"""The editor of the package: its answers are deterministic, in range, and about what was asked."""

from __future__ import annotations

import pytest

import t2onet
from t2onet import Editor, Recipe, operations
from t2onet.editor import apply_to_thumbnail
from t2onet.evaluation.cases import RequestKind, read_labels, read_sentences
from t2onet.language import Attribute
from t2onet.language.wishes import IMPOSSIBLE
from t2onet.metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, measure_attributes
from tests.conftest import ROOT, open_example

DATA = ROOT.parent / "shared" / "data"
NAMES = ("dogs", "drum", "stream", "trail")
L, C, S, W, R, X = Attribute
COLOURS = ((S, 0), (W, 0), (R, 0))


@pytest.fixture(scope="module")
def editors() -> list[Editor]:
    return [Editor(open_example(name, 256)) for name in NAMES]


def measure_change(editor: Editor, request: str, attribute: Attribute) -> float:
    """By how many noticeable amounts the answer to a request moves an attribute."""
    edit = editor.ask(request)
    assert edit.answered
    return measure_effect(editor, edit.recipe, attribute)


def measure_effect(editor: Editor, recipe: Recipe, attribute: Attribute) -> float:
    at = ATTRIBUTE_INDEX[attribute]
    after = measure_attributes(apply_to_thumbnail(recipe, editor.picture))
    return float((after - measure_attributes(editor.picture))[at] / JUST_NOTICEABLE[at])


@pytest.mark.parametrize(
    ("request_", "attribute", "sign"),
    [
        ("make it brighter", L, 1),
        ("please darken the photo", L, -1),
        ("more contrast", C, 1),
        ("reduce the contrast", C, -1),
        ("boost the colours", S, 1),
        ("less saturated please", S, -1),
        ("warm it up", W, 1),
        ("cooler tones", W, -1),
        ("add some magenta", R, 1),
        ("sharpen it", X, 1),
        ("make it softer", X, -1),
        ("incrase the brigthness", L, 1),
    ],
)
def test_it_does_what_was_said(editors: list[Editor], request_: str, attribute: Attribute, sign: int) -> None:
    assert all(sign * measure_change(editor, request_, attribute) > 1 for editor in editors)


def test_amounts_matter(editors: list[Editor]) -> None:
    amounts = ("make it a little brighter", "make it brighter", "make it a lot brighter")
    for editor in editors:
        little, plain, much = (measure_change(editor, request, L) for request in amounts)
        assert 1.3 * little < plain < much / 1.3


def test_numbers_are_taken_exactly(editors: list[Editor]) -> None:
    for editor in editors:
        assert editor.ask("half a stop brighter").recipe == Recipe.from_steps([("exposure", 0.5)])
        assert editor.ask("exposure -0.7").recipe == Recipe.from_steps([("exposure", -0.7)])


@pytest.mark.parametrize(
    ("request_", "verdict"),
    [
        ("remove the man on the left", "remove"),
        ("add a hat to the dog", "add"),
        ("blur the background", "blur"),
        ("crop it tighter", "crop"),
    ],
)
def test_what_cannot_be_done_is_said(editors: list[Editor], request_: str, verdict: str) -> None:
    for editor in editors:
        edit = editor.ask(request_)
        assert (edit.verdict, edit.recipe) == (verdict, Recipe())
        assert edit.explain().endswith("; nothing was changed.")


def test_it_reads_only_english(editors: list[Editor]) -> None:
    for request in ("mach es heller", "明るくして"):
        edit = editors[0].ask(request)
        assert (edit.verdict, edit.recipe) == ("foreign", Recipe())
        assert edit.explain() == "Requests are read in English; nothing was changed."


@pytest.mark.parametrize("mode", ["literal", "expert"])
@pytest.mark.parametrize("request_", ["brighter and warmer", "ünïcode \x00 \u200b 😀", "blah " * 3000])
def test_any_words_give_parameters_in_range(request_: str, mode: t2onet.editor.Mode) -> None:
    photo = open_example("drum", 256)
    edit = t2onet.edit(photo, request_, mode=mode)
    again = t2onet.edit(photo, request_, mode=mode)
    assert (edit.recipe, edit.wishes, edit.reply) == (again.recipe, again.wishes, again.reply)
    for step in edit.recipe.steps:
        assert operations.get_operation(step.operation).check(list(step.parameters))


@pytest.mark.parametrize("request_", ["<script>alert(1)</script>", "DROP TABLE photos; --", "hello there"])
def test_what_is_no_wish_is_not_taken_for_one(editors: list[Editor], request_: str) -> None:
    for editor in editors:
        edit = editor.ask(request_)
        assert (edit.verdict, edit.recipe, edit.wishes) == ("nothing", Recipe(), ())


@pytest.mark.parametrize("mode", ["literal", "expert"])
@pytest.mark.parametrize(
    ("request_", "besides"),
    [
        ("make it brighter and remove the dog", ("remove dog", "remove")),
        ("warmer, and crop it tighter", ("crop tighter", "crop")),
        ("warmer, and add a hat to the dog", ("add hat dog", "add")),
        ("increase the contrast. Also blur the background", ("blur background", "blur")),
    ],
)
def test_of_a_mixed_request_the_part_that_cannot_be_done_is_told(
    editors: list[Editor], request_: str, besides: tuple[str, str], mode: t2onet.editor.Mode
) -> None:
    edit = editors[0].ask(request_, mode=mode)
    assert edit.verdict == "edit"
    assert [(part.words, part.verdict) for part in edit.declined] == [besides]
    assert edit.recipe.steps
    assert f"Not done, “{besides[0]}”: " in edit.explain()


@pytest.mark.parametrize(
    "request_",
    [
        "make it brighter and warmer",
        "a bit sharper, more contrast and less yellow please",
        "brighten it so that the dog and the grass are seen",
        "make it black and white and darker",
        "lighten it up, it's for my grandma's birthday, thanks!",
    ],
)
def test_nothing_is_missing_from_an_answer_to_what_can_be_done(editors: list[Editor], request_: str) -> None:
    edit = editors[0].ask(request_)
    assert edit.declined == ()
    assert edit.recipe.steps


@pytest.mark.parametrize("request_", ["make the car darker", "brighten her hair"])
def test_what_is_said_of_a_part_without_a_name_is_not_done_to_the_whole(
    editors: list[Editor], request_: str
) -> None:
    edit = editors[0].ask(request_)
    assert (edit.verdict, edit.recipe) == ("lightness", Recipe())
    assert " cannot be found by its name; " in edit.reply
    assert edit.reply.endswith("mark it with a mask; nothing was changed.")


LIMITED: list[tuple[str, tuple[Attribute, int], tuple[tuple[Attribute, int], ...]]] = [
    ("brighter without changing the colours", (L, 1), COLOURS),
    ("more contrast but not darker", (C, 1), ((L, -1),)),
    ("sharper but keep the colours", (X, 1), COLOURS),
    ("make it warmer but don't make it brighter", (W, 1), ((L, 1),)),
    ("keep the colours but make it sharper", (X, 1), COLOURS),
    ("Without touching the contrast, make it brighter.", (L, 1), ((C, 0),)),
    ("brighten it and leave the colours alone", (L, 1), COLOURS),
    ("increase the saturation without making it too bright", (S, 1), ((L, 1),)),
    ("make it darker without losing contrast", (L, -1), ((C, -1),)),
    ("darker while keeping the colours the same", (L, -1), COLOURS),
    ("increase contrast. Keep the brightness as is.", (C, 1), ((L, 0),)),
    ("more vivid, the brightness should stay the same", (S, 1), ((L, 0),)),
    ("lighter without washing out the colours", (L, 1), ((S, -1),)),
    ("make it brighter, but don’t touch the saturation", (L, 1), ((S, 0),)),
    ("brighter but not warmer", (L, 1), ((W, 1),)),
    ("more contrast without making it darker or colder", (C, 1), ((L, -1), (W, -1))),
    ("brighter with the same contrast", (L, 1), ((C, 0),)),
    ("more contrast, but keep it bright", (C, 1), ((L, -1),)),
    ("sharpen it but don't touch the brightness", (X, 1), ((L, 0),)),
    ("cooler without making it darker", (W, -1), ((L, -1),)),
    ("less saturated but keep the contrast", (S, -1), ((C, 0),)),
    ("warmer but leave the exposure alone", (W, 1), ((L, 0),)),
    ("softer but keep the colours as they are", (X, -1), COLOURS),
    ("more contrast without oversaturating it", (C, 1), ((S, 1),)),
    ("brighter, but don't make it flat", (L, 1), ((C, -1),)),
    ("darker but not colder", (L, -1), ((W, -1),)),
    ("less contrast but not brighter", (C, -1), ((L, 1),)),
    ("more colourful without changing the brightness", (S, 1), ((L, 0),)),
    ("warm it up without losing sharpness", (W, 1), ((X, -1),)),
    ("add contrast but no changes to the saturation", (C, 1), ((S, 0),)),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dogs", "stream", "sunset"])
@pytest.mark.parametrize(("request_", "asked", "limits"), LIMITED, ids=[text for text, _, _ in LIMITED])
def test_it_does_what_is_asked_within_the_limits(
    name: str, request_: str, asked: tuple[Attribute, int], limits: tuple[tuple[Attribute, int], ...]
) -> None:
    editor = Editor(open_example(name, 256))
    edit = editor.ask(request_)
    assert asked[1] * measure_effect(editor, edit.recipe, asked[0]) > 1
    for attribute, way in limits:
        moved = measure_effect(editor, edit.recipe, attribute)
        assert (way * moved if way else abs(moved)) < 3, attribute


@pytest.mark.parametrize(
    ("plain", "gentle", "attribute"),
    [
        ("brighter", "brighter, but not too much", L),
        ("more saturated", "more saturated but don't overdo it", S),
    ],
)
def test_it_does_less_where_it_must_not_be_too_much(
    editors: list[Editor], plain: str, gentle: str, attribute: Attribute
) -> None:
    much, little = (measure_change(editors[0], said, attribute) for said in (plain, gentle))
    assert 0.3 * much < little < 0.7 * much


def test_a_limit_to_a_colour_is_kept_or_it_is_said_that_it_is_not(editors: list[Editor]) -> None:
    edits = [editor.ask("warmer, but not too yellow") for editor in editors]
    assert edits[0].limits[0].kept
    for editor, edit in zip(editors, edits, strict=True):
        assert measure_effect(editor, edit.recipe, W) > 1
        said = " is kept." if edit.limits[0].kept else ": it could not be held fully."
        assert f"“not too yellow”{said}" in edit.explain()


@pytest.mark.slow
@pytest.mark.needs_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is absent")
def test_real_requests_that_can_be_answered_are_hardly_ever_declined(editors: list[Editor]) -> None:
    sentences = read_sentences(read_labels(), DATA / "ma5k-req", DATA / "gier")
    plain = [
        text
        for label, text in sentences.items()
        if label.kind is not RequestKind.UNANSWERABLE and not label.mixed
    ]
    edits = [editors[0].ask(text) for text in plain]
    more = [edit.request for edit in edits if {part.verdict for part in edit.declined} & set(IMPOSSIBLE)]
    assert len(more) <= 0.01 * len(plain), more
    declined = [edit.request for edit in edits if not edit.answered]
    assert len(declined) <= 0.05 * len(plain), declined
