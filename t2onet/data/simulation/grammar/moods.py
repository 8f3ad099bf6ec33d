"""Vague wishes: a mood or a quality, without the change that would bring it about."""

from __future__ import annotations

from dataclasses import dataclass

from .engine import PhraseChoice, phrases


@dataclass(frozen=True)
class Mood:
    """`orders` are whole orders; `compared` follows `make it`; `feel` is what it should have."""

    orders: PhraseChoice
    compared: PhraseChoice
    feel: PhraseChoice


def _mood(orders: str, compared: str, feel: str) -> Mood:
    return Mood(phrases(orders), phrases(compared), phrases(feel))


MOODS = {
    "better": _mood(
        """fix <it>^3|improve <it>^4|enhance <it>^5|make <it> look good^2|edit <it>^2|touch <it> up^3|
        do your magic^2|make <it> look professional^3|fix <it> up|clean <it> up^2|retouch <it>^2|
        work your magic on <it>|make the best of <it>|make <it> as good as you can|
        do whatever you think is best^2|make <it> presentable|spruce <it> up|tidy <it> up|polish <it>^2|
        auto enhance <it>|auto-correct <it>|perfect <it>|beautify <it>^2|make <it> beautiful^2|
        make <it> look nice^2|surprise me|improve the quality^2|enhance the quality|make <it> perfect|
        give <it> the pro treatment|see what you can do with <it>|do something with <it>|
        make <it> look amazing|save <it>|make <it> look awesome|make <it> look cool|
        give <it> a basic edit|make <it> ready to post|make <it> worthy of a frame|
        edit <it> to look nice|give <it> some love|make <it> instagram ready|do some magic|
        make this photo great|optimise <it>|work on <it>|make <it> special|fix <it> however you can""",
        """better^8|nicer^4|more beautiful^2|more professional^3|prettier|more appealing^2|
        more attractive^2|more pleasing^2|more interesting^2|less boring|less amateurish|better quality|
        more polished|cooler looking|more presentable|less bad|more impressive|more like a pro shot""",
        """a professional look^2|a better look|some love|a nicer look|a bit of work|a touch up|
        a makeover|a proper edit|something special|an upgrade""",
    ),
    "pop": _mood(
        """make <it> pop^9|make everything pop^2|make <it> stand out^4|make <it> jump off the screen|
        make <it> eye-catching^2|give <it> the wow factor^2|wake <it> up|bring <it> to life^3|
        give <it> life|make <it> come alive^2|liven <it> up^2|spice <it> up^2|jazz <it> up|
        make <it> sing|make <it> leap out|make the subject pop""",
        """more eye-catching^2|more striking^3|more lively^2|livelier|less dull^2|less lifeless|snappier|
        zingier|more exciting^2|more alive|less bland|more dynamic""",
        """some pop^4|more pop^4|the wow factor|some oomph|more zing|more life^2|some life^2|some zest|
        more impact^2|a little something|some kick|energy""",
    ),
    "moody": _mood(
        """make <it> moody^6|set a mood|make <it> brooding|make <it> atmospheric^2|give <it> some mood^2|
        go for a dark and moody look|make <it> look like a rainy Sunday|make <it> mysterious^2|
        make <it> film noir""",
        """moodier^6|more moody^3|more atmospheric^3|more brooding|more mysterious^2|more melancholic^2|
        more sombre|more intimate""",
        """a moody feel^3|a moody look^3|more mood^2|a dark mood|atmosphere^2|a brooding atmosphere|
        a sombre feel|a mysterious vibe|a moody vibe^2""",
    ),
    "dramatic": _mood(
        """make <it> dramatic^6|dramatise <it>|add drama^3|make <it> epic^2|make <it> look intense^2|
        make <it> theatrical|turn up the drama|make <it> look like a movie poster|make <it> badass^2|
        make <it> powerful^2|make the sky look dramatic|give <it> drama""",
        """more dramatic^9|more epic^2|more intense^2|more powerful^2|more theatrical|edgier^2|
        more hardcore|grittier|more striking and dramatic""",
        """drama^4|more drama^4|a dramatic look^3|a dramatic feel^2|an epic feel|a dramatic effect|
        a gritty look|some edge""",
    ),
    "dreamy": _mood(
        """make <it> dreamy^5|make <it> look like a dream^2|make <it> ethereal^2|
        make <it> look like a fairy tale^2|give <it> a magic glow|make <it> romantic^2|
        make <it> magical^2|make <it> whimsical|make <it> look heavenly""",
        """dreamier^5|more dreamy^3|more ethereal^2|more magical^2|more romantic^2|more whimsical|
        more fairytale-like|more angelic""",
        """a dreamy look^3|a dreamy feel^3|a dreamlike quality|a magical feel^2|a romantic feel|
        a fairytale look|a dreamy glow|some magic""",
    ),
    "vintage": _mood(
        """make <it> vintage^3|make <it> look old^3|make <it> look vintage^3|age <it>^2|
        make <it> retro^3|make <it> look like an old film photo^2|make <it> look like a polaroid^2|
        make <it> look like the 70s^2|give <it> a vintage filter^2|make <it> look antique|
        make <it> nostalgic^2|sepia tone <it>|make <it> look like it's from the [60s|50s|70s|80s|90s]^2|
        add a retro filter|make <it> sepia""",
        """more vintage^3|older looking^2|more retro^3|more nostalgic^2|old-fashioned|more old-timey|
        more antique|like an old photograph""",
        """a vintage look^4|a retro feel^3|a vintage feel^2|an old film look^2|a nostalgic feel^2|
        a 70s look|an old-school look|a sepia look|a vintage vibe""",
    ),
    "cinematic": _mood(
        """make <it> cinematic^6|make <it> look like a movie^3|make <it> look like a film still^3|
        colour grade <it> like a film^2|give <it> a hollywood look^2|
        make <it> look like a scene from a movie^2|grade <it> like a blockbuster|
        make <it> look like it's from a film|teal and orange look please""",
        """more cinematic^9|more filmic^2|more movie-like^2|more like a film^2|more like a movie still|
        more hollywood""",
        """a cinematic look^4|a cinematic feel^3|a film look^2|a movie look^2|a hollywood feel|
        a cinematic grade|that movie feeling|a blockbuster look""",
    ),
    "airy": _mood(
        """make <it> airy^4|make <it> light and airy^4|make <it> feel fresh^2|
        make <it> fresh and clean^2|make <it> feel open|make <it> breezy|give <it> a fresh look|
        make <it> feel like spring|make <it> feel like a breath of fresh air""",
        """airier^4|more airy^3|fresher^3|cleaner^2|lighter and airier^2|more open and fresh|breezier|
        more spring-like""",
        """an airy feel^3|an airy look^2|a light and airy look^3|a fresh look^2|a clean and fresh feel|
        a spring feel|an airy vibe""",
    ),
    "golden": _mood(
        """make <it> look like golden hour^3|make <it> feel like a summer evening^2|
        give <it> a sunset mood^2|make <it> glow like a sunset|make <it> look like late afternoon|
        make <it> feel like summer^2|make <it> sun-kissed^2|make <it> look like sundown|
        turn <it> into golden hour""",
        """more summery^3|sun-kissed^2|more like golden hour^2|sunnier in mood|more autumnal|
        more like a summer evening""",
        """a golden hour look^3|a golden glow^2|a summer feel^2|a sunset feel^2|an autumn feel|
        a honey glow|a sun-kissed look""",
    ),
    "cosy": _mood(
        """make <it> cosy^5|make <it> feel homely|make <it> look like a fireside evening^2|
        make <it> inviting^2|make <it> feel like candlelight^2|make <it> snug|make <it> feel like home|
        make <it> welcoming^2|make <it> feel friendly""",
        "cosier^5|more cosy^3|more inviting^3|homelier|more welcoming^2|snugger|friendlier",
        """a cosy feel^4|a cosy look^2|a candlelit feel^2|a homely atmosphere|a fireside mood|
        a cosy vibe^2|an inviting feel""",
    ),
    "wintry": _mood(
        """make <it> wintry^3|make <it> look like winter^3|make <it> look frosty^2|
        make <it> feel like a winter morning^2|make <it> look freezing^2|make <it> feel like December|
        make <it> look arctic|give <it> a winter look|make <it> look frozen""",
        "more wintry^4|frostier^3|more winter-like^2|more arctic|more freezing looking|more frozen",
        "a wintry feel^3|a winter look^3|a frosty look^2|a winter mood|an arctic feel|a January feel",
    ),
    "gloomy": _mood(
        """make <it> gloomy^5|make <it> spooky^3|make <it> look haunted^2|make <it> sad^2|
        make <it> creepy^3|make <it> scary^3|make <it> look like a horror film^2|make <it> ominous^2|
        make <it> depressing|make <it> look like a storm is coming^2|make <it> sinister|halloween it up""",
        """gloomier^4|more gloomy^2|spookier^3|scarier^3|creepier^2|more ominous^2|sadder^2|
        more sinister|more menacing|more haunted|more depressing""",
        """a gloomy feel^3|a spooky look^2|a horror feel^2|a creepy vibe^2|an ominous mood|
        a haunted look|a stormy mood|a scary atmosphere""",
    ),
    "punchy": _mood(
        """make <it> punchy^5|give <it> some punch^3|add punch^2|make <it> bold^3|make <it> hit harder|
        make <it> strong|beef <it> up|make <it> crunchy|HDR <it>^2|give <it> the HDR look^2|
        make <it> snap""",
        "bolder^3|more punchy^2|more HDR^2|more impactful|stronger^2|more energetic^2|more powerful",
        """some punch^3|more punch^4|an HDR look^3|an HDR effect^2|some bite|more energy^2|some snap|
        a bold look^2|more attitude""",
    ),
    "faded": _mood(
        """give <it> a faded look^3|make <it> look faded^3|make <it> look sun-bleached^2|
        give <it> a matte look^2|make <it> look like a worn print^2|make <it> look like an old postcard|
        give <it> a washed look|make <it> look weathered|wash <it> out^2|make <it> look bleached""",
        "more faded^4|more washed^2|more bleached^2|more matte^2|more weathered|more worn looking",
        "a faded look^4|a matte look^3|a faded film look^2|a washed feel|a bleached look^2|a worn feel",
    ),
    "natural": _mood(
        """make <it> look natural^4|make <it> natural^3|make <it> realistic^2|make <it> look real^2|
        make <it> look like what I saw|make <it> true to life^2|make <it> look less fake^2|
        give <it> a natural look|correct <it>^2|balance <it> out^2|normalise <it>|fix the colours^2|
        correct the colours^2|fix the colour balance^2|fix the white balance^2|fix the lighting^3|
        correct the lighting^2|adjust the colours^2|adjust the lighting^2|fix the hue|
        colour correct <it>^2""",
        """more natural^5|more realistic^4|less fake^2|truer to life^2|more normal|less artificial^2|
        more lifelike^2|more like real life|more balanced""",
        """a natural look^4|a natural feel|more realism|realistic colours^2|natural colours^2|
        natural lighting^2|colour correction^2|better lighting^2""",
    ),
    "calm": _mood(
        """make <it> calm^3|make <it> peaceful^3|make <it> serene^2|make <it> gentle^2|
        make <it> relaxing^2|quieten <it> down|make <it> feel quiet|make <it> soothing|
        make <it> feel tranquil""",
        "calmer^4|more peaceful^3|more serene^2|gentler^2|quieter|more relaxing|more tranquil|more soothing",
        """a calm feel^3|a peaceful mood^2|a quiet mood|a serene look^2|a gentle feel^2|a soothing look|
        some peace""",
    ),
}


def mood(name: str) -> Mood:
    """The words of a mood; of one that has none of its own, by its name."""
    if name in MOODS:
        return MOODS[name]
    return _mood(
        f"make <it> {name}|make <it> look {name}|give <it> a {name} look",
        f"more {name}",
        f"a {name} feel|a {name} look",
    )
