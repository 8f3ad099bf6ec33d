"""Words and their pieces, and from a network's outputs to wishes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.language.quantities import Unit
from t2onet.language.reader import (
    MAX_PIECES,
    attach_quantities,
    clean_text,
    decode_wishes,
    encode_words,
    find_heads,
    normalize_word,
    split_pieces,
    split_words,
)
from t2onet.language.wishes import HUES, WHATS, WHERES, Amount, Direction, Role, Verb, Wish

LOOKS = ("noir", "vintage", "matte", "airy")
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "bright", "##er", "##en", "a", "bit", "#", "n", "##o", ","]
VOCABULARY = {piece: number for number, piece in enumerate(PIECES)}


def test_signs_stand_alone() -> None:
    words = split_words("A bit brighter, +0.3!")
    assert [word.text for word in words] == ["A", "bit", "brighter", ",", "+", "0", ".", "3", "!"]
    assert [(word.start, word.end) for word in words[:2]] == [(0, 1), (2, 5)]


def test_the_longest_known_pieces_are_taken() -> None:
    assert list(split_pieces("brighter", VOCABULARY)) == ["bright", "##er"]
    assert list(split_pieces("brighten", VOCABULARY)) == ["bright", "##en"]


def test_a_word_with_unknown_letters_is_unknown() -> None:
    assert list(split_pieces("brightly", VOCABULARY)) == ["[UNK]"]
    assert list(split_pieces("a" * 60, VOCABULARY)) == ["[UNK]"]


def test_letters_are_small_and_without_accents() -> None:
    assert normalize_word("Café") == "cafe"


def test_pieces_know_their_words() -> None:
    numbers, owners = encode_words(split_words("a brighter bit"), VOCABULARY)
    assert numbers == [2, 7, 4, 5, 8, 3]
    assert owners == [-1, 0, 1, 1, 2, -1]


@given(st.text(max_size=400))
def test_any_text_is_encoded_within_the_length(text: str) -> None:
    numbers, owners = encode_words(split_words(text), VOCABULARY)
    assert len(numbers) == len(owners) <= MAX_PIECES + 2


def decode(
    text: str, wishes: Mapping[str, tuple[Wish, str]], looks: tuple[float, ...] = (0, 0, 0, 0)
) -> list[Wish]:
    """Read a sentence by a network that finds these wishes: for each head the wish and the other words.

    Each word is one piece, but a head is two, of which the second has the logits of another wish. `word=4`
    belongs to it by that score, other words by 1.
    """
    words = split_words(text)
    texts = [word.text for word in words]
    owners = [-1, *(at for at, word in enumerate(texts) for _ in range(1 + (word in wishes))), -1]
    sizes = {
        "what": len(WHATS) + 1,
        "direction": len(Direction),
        "amount": len(Amount),
        "role": len(Role),
        "where": len(WHERES),
        "hue": len(HUES) + 1,
        "verb": len(Verb),
        "belongs": len(owners),
    }
    outputs = {name: np.zeros((len(owners), size), np.float32) for name, size in sizes.items()}
    outputs["belongs"] -= 1
    outputs["looks"] = np.tile(np.array(looks, np.float32), (len(owners), 1))
    for head, (wish, others) in wishes.items():
        piece = owners.index(texts.index(head))
        classes = {
            "what": WHATS.index(wish.what) + 1,
            "direction": list(Direction).index(wish.direction),
            "amount": list(Amount).index(wish.amount),
            "role": list(Role).index(wish.role),
            "where": WHERES.index(wish.where),
            "hue": HUES.index(wish.hue) + 1 if wish.hue else 0,
            "verb": list(Verb).index(wish.verb),
        }
        for name, number in classes.items():
            outputs[name][piece, number] = 9
        outputs["what"][piece + 1, 1] = 9
        for other in others.split():
            word, _, score = other.partition("=")
            outputs["belongs"][owners.index(texts.index(word)), piece] = float(score or 1)
    return attach_quantities(decode_wishes(outputs, words, owners, LOOKS), words, text)


BRIGHTER = Wish("lightness", Direction.UP)


def test_a_wish_has_a_head_and_other_words_in_order() -> None:
    cast = Wish("cast", Direction.DOWN, Amount.LITTLE, "sky", "yellow", Role.LIMIT)
    (wish,) = decode("the sky slightly less yellow, please", {"yellow": (cast, "sky less slightly , ")})
    assert (wish.what, wish.direction, wish.amount) == ("cast", Direction.DOWN, Amount.LITTLE)
    assert (wish.where, wish.hue, wish.role) == ("sky", "yellow", Role.LIMIT)
    assert (wish.head, wish.start) == ("yellow", 22)
    assert wish.words == ("sky", "slightly", "less", "yellow")


def test_a_word_is_shared_by_wishes_only_where_its_scores_are_near() -> None:
    heads = {"light": (BRIGHTER, "more sky=0.5"), "sharpness": (Wish("sharpness"), "more sky=4")}
    light, sharpness = decode("more light and sharpness sky", heads)
    assert light.words == ("more", "light")
    assert sharpness.words == ("more", "sharpness", "sky")


def test_nothing_is_read_where_no_piece_is_a_head() -> None:
    assert decode("hello there", {}) == []


def test_wishes_are_in_the_order_of_their_heads() -> None:
    found = decode("sharper and brighter", {"brighter": (BRIGHTER, ""), "sharper": (Wish("sharpness"), "")})
    assert [wish.head for wish in found] == ["sharper", "brighter"]


def test_the_same_wish_is_listed_once_with_the_words_of_both() -> None:
    found = decode("too dark , make it brighter", {"dark": (BRIGHTER, "too"), "brighter": (BRIGHTER, "make")})
    (wish,) = found
    assert wish.head == "dark"
    assert wish.words == ("too", "dark", "make", "brighter")


def test_wishes_for_different_parts_are_two() -> None:
    sky = Wish("lightness", Direction.UP, where="sky")
    assert len(decode("brighter and sky lighter", {"brighter": (BRIGHTER, ""), "lighter": (sky, "sky")})) == 2


def test_only_casts_and_recolouring_have_a_hue() -> None:
    (wish,) = decode("brighter", {"brighter": (Wish("lightness", Direction.UP, hue="red"), "")})
    assert wish.hue == ""


def test_a_look_is_named_by_its_score() -> None:
    (wish,) = decode("make it retro", {"retro": (Wish("look"), "")}, looks=(0.1, 0.9, 0.3, 0.2))
    assert wish.looks == (
        ("vintage", pytest.approx(0.9)),
        ("matte", pytest.approx(0.3)),
        ("airy", pytest.approx(0.2)),
    )


def test_a_number_belongs_to_the_wish_among_whose_words_it_is() -> None:
    contrast = Wish("contrast", Direction.UP)
    found = decode(
        "brighter and by 20 % more contrast", {"brighter": (BRIGHTER, ""), "contrast": (contrast, "20 more")}
    )
    assert [wish.quantity and wish.quantity.value for wish in found] == [None, 20]
    assert found[1].quantity is not None
    assert found[1].quantity.unit is Unit.PERCENT
    assert found[1].words == ("20", "%", "more", "contrast")


def test_a_number_may_belong_to_several_wishes() -> None:
    wishes = {"brightness": (BRIGHTER, "30"), "contrast": (Wish("contrast", Direction.UP), "30")}
    found = decode("brightness and contrast 30", wishes)
    assert [wish.quantity and wish.quantity.value for wish in found] == [30, 30]


def test_a_number_without_any_wish_is_left_out() -> None:
    assert decode("20 % of nothing", {}) == []


def test_a_wish_says_what_it_does_to_earlier_changes() -> None:
    (wish,) = decode("lose the grain", {"grain": (Wish("grain", Direction.DOWN, verb=Verb.CANCEL), "lose")})
    assert wish.verb is Verb.CANCEL


@pytest.mark.parametrize(("chances", "heads"), [((0.4, 0.3), [1]), ((0.45, 0.0), []), ((0.15, 0.15), [])])
def test_the_likeliest_head_is_taken_where_there_is_one_but_no_word_is_sure(
    chances: tuple[float, ...], heads: list[int]
) -> None:
    rows = [(0.5, 0.5), *((1 - chance, max(chance, 1e-9)) for chance in chances), (0.5, 0.5)]
    assert find_heads(np.log(rows), [-1, 0, 1, -1]) == heads


def test_what_is_hardly_likelier_than_nothing_is_no_wish() -> None:
    outputs = {
        name: np.zeros((3, 9), np.float32)
        for name in ("what", "direction", "amount", "role", "where", "verb")
    }
    outputs |= {"hue": np.zeros((3, 9)), "belongs": np.zeros((3, 3)), "looks": np.zeros((3, 4))}
    outputs["what"][1, 1] = 0.5
    assert decode_wishes(outputs, split_words("qwer"), [-1, 0, -1], LOOKS) == []


def test_pictures_between_words_are_no_words() -> None:
    assert clean_text("🌞 brighter 🔥 by 2°").split() == ["brighter", "by", "2°"]
