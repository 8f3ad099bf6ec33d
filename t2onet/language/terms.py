"""The words `keywords` knows, as tables; in American spelling and small letters, without apostrophes."""

from __future__ import annotations

import re

from .intent import Attribute

_L, _C, _S = Attribute.LIGHTNESS, Attribute.CONTRAST, Attribute.COLOURFULNESS
_W, _R, _X = Attribute.WARMTH, Attribute.REDNESS, Attribute.SHARPNESS


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _all(words: str, meaning: tuple[Attribute, int]) -> dict[str, tuple[Attribute, int]]:
    return dict.fromkeys(words.split(), meaning)


_SELF_SAID = {
    **_all(
        "brighten brighter lighten lighter illuminate brightening lightening brightened lightened moreseen",
        (_L, 1),
    ),
    **_all("darken darker dimmer darkening darkened darkend underexpose", (_L, -1)),
    **_all("punchier dehaze contrasty", (_C, 1)),
    **_all("flatten flatter fade hazier matte", (_C, -1)),
    **_all("saturate saturated vivid vibrant colorful richer enrich popcolor livelier", (_S, 1)),
    **_all(
        "desaturate desaturated mute muted duller subdued subdue pastel monochrome paler grayer", (_S, -1)
    ),
    **_all("warmer warm_ golden toastier", (_W, 1)),
    **_all("cooler cool_ colder icier chillier icy", (_W, -1)),
    **_all("rosier pinker", (_R, 1)),
    **_all(
        "sharpen sharper crisper sharpening sharpened deblur unblur sharp crisp infocus detailed focused",
        (_X, 1),
    ),
    **_all("soften softer blurrier smoother desharpen fuzzier blur smooth", (_X, -1)),
}
_WITH_VERB = {
    **_all(
        "brightness exposure light lighting luminosity lightness luminance illumination gamma daylight",
        (_L, 1),
    ),
    **_all("whites highlights highlight fill_", (_L, 1)),
    **_all("darkness dimness shadow", (_L, -1)),
    **_all("contrast punch", (_C, 1)),
    **_all("haze fog flatness", (_C, -1)),
    **_all(
        "saturation vibrance vibrancy color colors colorfulness chroma vividness intensity richness sat",
        (_S, 1),
    ),
    **_all("warmth temperature warmness", (_W, 1)),
    **_all("coolness coldness", (_W, -1)),
    **_all("sharpness clarity definition crispness focus detail details", (_X, 1)),
    **_all("blurriness softness fuzziness smoothness", (_X, -1)),
}
TERMS = {
    **{word: (*meaning, False) for word, meaning in _SELF_SAID.items()},
    **{word: (*meaning, True) for word, meaning in _WITH_VERB.items()},
}
"""Attribute, sign, and whether it takes a verb such as `increase` to ask for anything."""

STATES = {
    **_all("bright overexposed blownout glaring overlit", (_L, 1)),
    **_all("dark dim gloomy underexposed underlit backlit shadowy murky", (_L, -1)),
    **_all("harsh overcontrasty", (_C, 1)),
    **_all("flat hazy foggy washedout milky misty muddy", (_C, -1)),
    **_all("garish oversaturated gaudy neon loud intense colorful saturated vivid vibrant", (_S, 1)),
    **_all("dull drab colorless pale bland undersaturated faded muted desaturated", (_S, -1)),
    **_all("warm yellowish", (_W, 1)),
    **_all("cold cool bluish chilly", (_W, -1)),
    **_all("pinkish rosy", (_R, 1)),
    **_all("oversharpened crunchy sharp crisp", (_X, 1)),
    **_all("blurry soft fuzzy outoffocus unsharp blurred unclear smudgy unfocused", (_X, -1)),
}
"""Qualities: wanted after `make it`, not wanted after `too`."""

COLOURS: dict[str, tuple[tuple[Attribute, int], ...]] = {
    "red": ((_R, 1), (_W, 1)),
    "reddish": ((_R, 1), (_W, 1)),
    "redder": ((_R, 1), (_W, 1)),
    "orange": ((_R, 1), (_W, 1)),
    "yellow": ((_W, 1),),
    "yellower": ((_W, 1),),
    "gold": ((_W, 1),),
    "green": ((_R, -1), (_W, 1)),
    "greenish": ((_R, -1), (_W, 1)),
    "greener": ((_R, -1), (_W, 1)),
    "teal": ((_R, -1),),
    "cyan": ((_R, -1),),
    "turquoise": ((_R, -1),),
    "aqua": ((_R, -1),),
    "blue": ((_W, -1),),
    "bluer": ((_W, -1),),
    "purple": ((_R, 1), (_W, -1)),
    "violet": ((_R, 1), (_W, -1)),
    "pink": ((_R, 1),),
    "magenta": ((_R, 1),),
}
"""What more of a colour does."""
COLOURS |= {f"{name}s": meaning for name, meaning in COLOURS.items() if not name.endswith(("sh", "er"))}

NAMES = {word: attribute for word, (attribute, _, needs_verb) in TERMS.items() if needs_verb} | {
    "whitebalance": _W, "tint": _R, "reds": _R, "bright": _L, "dark": _L, "darker": _L, "brighter": _L,
    "yellow": _W, "warm": _W, "cold": _W, "blue": _W, "warmer": _W, "cooler": _W, "pink": _R, "green": _R,
    "flat": _C, "harsh": _C, "contrasty": _C, "hazy": _C, "blurry": _X, "garish": _S, "oversaturate": _S,
}  # fmt: skip
"""What is meant where something must stay as it is."""

UP = _set(
    """increase raise boost up enhance lift add more higher improve strengthen intensify heighten
    amplify deepen bump push bring extra additional inject put use increasing adding raising
    stronger amp lacks lacking needs + plus_"""
)
DOWN = _set(
    """decrease reduce lower less lessen remove cut drop down diminish minimize decreasing reducing
    lowering take tame weaker removing eliminate kill - excess excessive ease"""
)
NEUTRAL = _set("white black brown gray silver")
"""Colours that only parts of a photo are asked to have."""
WEAK = _set("low weak dull poor faint pale faded muted gray drab flat missing lost")
"""Said of a quantity that there is too little of."""
WANTING = _set(
    "make want should give get turn need needs like could would add have convert render wish shift prefer"
)
COMPLAINING = _set(
    "is its looks look came turned seems appears too was feels find theres there has got cast ended are very"
)
KEEPING = _set(
    "keep keeping leave leaving without dont untouched preserve preserving maintain alone unchanged"
)
LOCAL = _set(
    """only except background sky face faces eyes eye skin hair teeth foreground water grass tree trees
    flower flowers man woman person people car shirt building buildings wall dog cat her his
    mountain mountains clouds snow subject window sign hand child baby girl boy dress ground
    leaves road corner side statue vignette door house lips tie hat belly nose jacket bride
    couple kids sofa roof"""
)
IMPOSSIBLE = _set(
    """crop rotate straighten flip zoom mirror erase delete photoshop resize upscale enlarge watermark
    text background_ replace blurback recolor colorize swap insert cartoon painting sketch
    resolution png pdf jpeg transparent pimples acne wrinkles thinner younger taller slimmer
    horizon crooked sideways upside perspective tilted denoise aspect ratio pixels typo stencil
    anime pixel vector zooming cropping rotating deleting erasing grain grainy noise scratches
    bokeh merge combine isolate restore caption background_remove cutout level_ blemishes dpi
    collage disappear"""
)
VAGUE = _set(
    """better nicer improve enhance fix edit professional pop beautiful moody dramatic dreamy vintage
    cinematic airy cozy cozier wintry frosty spooky gloomier retro summery whimsical magical
    airier inviting natural realistic polish retouch touchup magic amazing awesome epic romantic
    interesting appealing attractive adjust correct balance hdr filter sepia mood look_ feel
    vibe atmosphere quality standout alive lively fresh film movie nostalgic old scary scarier
    creepy haunted bolder punchy faded impact calm peaceful prettier perfect glow mysterious
    drama"""
)
AMOUNTS = {
    **dict.fromkeys(_set("tiny hair hint tiniest teeny smidge barely smidgen minimally"), 0.3),
    **dict.fromkeys(
        _set("bit little slightly touch tad somewhat subtle subtly gently lightly notch slight kinda small"),
        0.5,
    ),
    **dict.fromkeys(_set("some moderately moderate"), 1.0),
    **dict.fromkeys(_set("noticeably quite fairly rather pretty visibly clearly markedly fair"), 1.3),
    **dict.fromkeys(
        _set(
            """lot much way far significantly greatly dramatically considerably substantially very
            really heavily strongly lots ton loads seriously badly"""
        ),
        2.0,
    ),
    **dict.fromkeys(
        _set("extremely massively drastically hugely insanely maximum max super incredibly totally utterly"),
        3.0,
    ),
}
FILLERS = _set(
    """out shadows the a an this that it my please pls plz photo picture image pic img shot photograph
    can could you would u someone anyone to of in for i me we us by be just overall entire whole
    thanks thank thx scene everything all on with hi hello hey if possible and or help will do
    am as at from into kindly input desired thing tone tones hue level levels amount setting
    value ing also about around one well kind feel color colors balance effect filter layer rgb
    than image surface look looking looks going trying id im maybe s t your them areas parts"""
)

JOINED = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"colour", "color"),
        (r"grey", "gray"),
        (r"\bcosy", "cozy"),
        (
            r"\bblack (?:and|&|n) white\b|\bb ?& ?w\b|\bbw\b|\bgrayscale\b|\bb/w\b|\ball (?:the )?colors?\b",
            "monochrome",
        ),
        (r"\bset the saturation to zero\b|\bno color\b", "monochrome"),
        (r"\bwash(?:ed)?[ -]out\b", "washedout"),
        (r"\bblown?[ -]out\b", "blownout"),
        (r"\bover[ -](\w)", r"over\1"),
        (r"\bunder[ -](\w)", r"under\1"),
        (r"\bout of focus\b|\bnot in focus\b|\boff focus\b", "outoffocus"),
        (r"\b(?:more|better) in focus\b", "infocus"),
        (r"\bwhite balance\b", "whitebalance"),
        (
            r"\b(photo|picture|image|pic|shot|photograph|img) of (?:me and )?(?:my|the|our|an?|some) \w+",
            r"\1",
        ),
        (r"\bdark(?:er|est)? (?:areas?|parts?|spots?|corners?)\b|\bshaded areas\b|\bthe darks\b", "shadows"),
        (r"\b(?:bright|light)(?:er|est)? (?:areas?|parts?|spots?)\b", "highlights"),
        (r"\b(?:details?|light|brightness) in the (?:shadows|dark)\b|\bshadow details?\b", "brightness"),
        (r"\b(?:depth|weight|darkness) in the shadows\b", "darkness"),
        (r"\bshadows (?:are|look) (?:\w+ )*?(?:dark|deep|black|heavy|strong|harsh)\b", "lighten"),
        (r"\bshadows (?:are|look) (?:\w+ )*?(?:bright|light|gray|weak|milky|open|washedout)\b", "darken"),
        (r"\bdifference between light and dark\b", "contrast"),
        (r"\bcolors? (?:pop|stand out|come alive|brighter|stronger|bolder)\b", "popcolor"),
        (r"\b(?:bring out|intensify|enhance|boost|revive) (?:the )?colors?\b", "popcolor"),
        (r"\bstand out\b", "standout"),
        (r"\bcool (?:\w+ ){0,3}(?:down|off)\b|\bcool (?=it|the)", "cool_ "),
        (r"\bwarm (?:\w+ ){0,3}up\b|\bwarm (?=it|the)", "warm_ "),
        (
            r"\b(?:tone|bring|turn|dial|knock|pull|take|back|push|cut) ((?:\w+ ){0,3})(?:down|back|off)\b",
            r"lower \1",
        ),
        (
            r"\b(?:bring|turn|bump|crank|push|dial|amp|pump|jack|ramp|kick|step) ((?:\w+ ){0,3})up\b",
            r"raise \1",
        ),
        (
            r"\bget rid of\b|\btake (?:out|away)\b|\btake (?=(?:\w+ ){1,4}(?:out|away)\b)|\bedit out\b",
            "remove ",
        ),
        (r"\b(?:reduce|remove|lessen|minimi[sz]e|eliminate|soften) (?:the )?(?:\w+ )?shadows?\b", "lighten"),
        (r"\b(?:open up|lift|raise|recover|fill in|boost) (?:the )?shadows?\b|\bfill light\b", "lighten"),
        (r"\b(?:deepen|strengthen|lower|drop|enhance) (?:the )?shadows?\b", "darken"),
        (r"\brecover (?:the )?(?:blown )?highlights?\b|\bhot spots?\b|\bglare\b", "darken"),
        (r"\bdeepen (?:the )?blacks?\b|\bdarker blacks\b", "add contrast"),
        (
            r"\beasier to see\b|\bmore visible\b|\b(?:cant|hardly|hard to|cannot) (?:really )?see\b",
            "moreseen",
        ),
        (r"\bnot enough\b|\bmissing\b|\bdoesnt have enough\b", "lacks"),
        (
            r"\b(?:remove|change|replace|swap) (?:the )?(?:background|sky)\b",
            "background_",
        ),
        (r"\bblur (?:out )?(?:the )?background\b", "blurback"),
        (r"\b(touch|hint|bit|dash|tons?|lots?|loads|whisper|amount|plenty) of(?: the)?\b", r"\1 more"),
        (r"\b(?:quite a|good|fair) bit\b", "fairly"),
        (r"\bvery (?:little|small|slight|slightly)\b", "tiny"),
        (r"\bas (?:much|far) as (?:possible|you can)\b|\bto the (?:max|maximum|extreme)\b", "maximum"),
        (r"\bsome of (?:the )?", ""),
        (r"\bun-?blur\w*", "unblur"),
        (r"\b(this|old|my|these) monochrome (photo|picture|image)", r"\1 \2"),
        (r"\b(?:everything|all) (?:but|except|besides)\b", "only"),
        (
            r"\b(?:on|at|to|in) the (?:far |very )?(?:lower |upper )?(?:left|right|top|bottom|middle|back)\b",
            "corner",
        ),
        (r"\bdo not\b", "dont"),
        (r"\bno changes? (?:to|in)\b", "dont"),
    )
)
"""Expressions of several words that mean one thing, in the order they are looked for."""

SPELLINGS = {
    wrong: right
    for right, wrongs in {
        "brightness": "brigthness brightnes brighness brighteness britness",
        "brighten": "brigthen brighen brightn birghten",
        "brighter": "brigther briter",
        "saturation": "saturaton saturnation satuation",
        "contrast": "contrats constrast contast",
        "colors": "colurs collors",
        "color": "colur collor",
        "sharpen": "sharpan sharpin",
        "visible": "visable",
        "lot": "alot",
        "slightly": "slighty slightely",
        "little": "littl litle",
    }.items()
    for wrong in wrongs.split()
}
