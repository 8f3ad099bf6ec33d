"""Named colours: what they are called, and the words that ask for more or less of one."""

from __future__ import annotations

from functools import cache

from ..wish import COLOURS
from .sides import Side, side

_NAMES = {
    "red": "red^8|crimson|scarlet",
    "orange": "orange^6|amber",
    "yellow": "yellow^6|lemon",
    "green": "green^8|emerald",
    "teal": "teal^5|turquoise^2|cyan^3|aqua",
    "blue": "blue^8|azure",
    "purple": "purple^6|violet^3|lavender|lilac",
    "pink": "pink^6|rose",
}
_COMPARED = {"red": "redder", "yellow": "yellower", "green": "greener", "blue": "bluer", "pink": "pinker"}
_TINGED = {
    "red": "reddish", "orange": "orangey", "yellow": "yellowish", "green": "greenish", "teal": "tealish",
    "blue": "bluish", "purple": "purplish", "pink": "pinkish",
}  # fmt: skip
_PLURAL = {"teal": "teal tones", "orange": "orange tones"}


@cache
def colour_side(colour: str, sign: int) -> Side:
    """Words for more (+1) or less (-1) of a colour."""
    if colour not in COLOURS:
        raise KeyError(f"no colour {colour!r}; there are {', '.join(COLOURS)}")
    name, plural = f"[{_NAMES[colour]}]", _PLURAL.get(colour, f"{colour}s")
    return _more(colour, name, plural) if sign > 0 else _less(colour, name, plural)


def _more(colour: str, name: str, plural: str) -> Side:
    tinged = _TINGED[colour]
    compared = _COMPARED.get(colour, f"more {colour}")
    return side(
        does=f"""bring out the {plural}^2|boost the {plural}^2|make the {plural} <much> stronger|
        push the {plural}|make <it> {tinged}|tint <it> {colour}^2|shift the colours towards {name}^2|
        push the colours towards {name}|give <it> a {name} [tint|tone|tinge|hue|cast|touch]^5|
        put a {name} filter on <it>|add a {name} [tint|tone|hue|filter|overlay|tinge]^5|
        tint the whole thing {colour}|colour <it> {colour}|turn <it> {tinged}|make <it> {colour}-toned|
        shift the hue towards {colour}|add a {name} colour cast|lay a {name} filter over <it>|
        add a {name} layer""",
        quantity=f"""{plural}^3|{colour} tones^4|{colour} hue^3|amount of {name}^2|{colour} channel|
        {name} tint|{colour} tone|{colour} undertones|{colour} level""",
        mass=f"""{name}^8|{name} tones^4|{name} undertones|{name} shades|{colour} in the colours|
        {name} hues|{colour} hue|{plural}|{name} tint|{colour} colour""",
        compared=f"{compared}^4|more {colour}^3|more {tinged}|{compared} in tone|more {colour}-toned",
        state=f"{colour}^5|{tinged}^3|{colour}-looking",
        remark=f"""there's <toomuch> {name} in it^2|the {plural} are <too> strong^2|
        everything looks <too> {colour}|the colours lean <too> {colour}|
        the colour balance is <too> {colour}""",
        wail=f"it's all {colour}|everything turned {colour}|it looks like it was dipped in {colour} paint",
        goal=f"so the {plural} stand out|so it leans {colour}|so it has a {colour} feel",
    )


def _less(colour: str, name: str, plural: str) -> Side:
    return side(
        does=f"""tone down the {plural}^3|kill the {plural}|take the {name} out^3|cut the {plural}|
        get rid of the {plural}|take some {name} out^2|remove [some of the |the |some ]{name}^4|
        mute the {plural}|take down the {plural}^2|reduce the {plural}^3|make the {plural} <much> weaker|
        pull the {name} out of <it>|remove the {name} tones^2|take away some {name}|
        take the {plural} down|desaturate the {plural}|remove {name} from <it>""",
        compared=f"less {colour}^6|less {_TINGED[colour]}^2|less {colour}-toned",
        remark=f"""there's not enough {name} in it|the {plural} are <too> weak|the {plural} don't show|
        it lacks {name}|the {plural} are <too> dull""",
        goal=f"so it isn't so {colour}|so the {plural} don't take over|to balance out the {name}",
    )
