"""How people put it: what they call the photo, how they ask, what else they tell, and what must stay."""

from __future__ import annotations

from ....language import Attribute
from .engine import Filler, PhraseChoice, Speaker, phrases

PHOTO = phrases("photo^8|picture^6|image^10|pic^4|shot^2|photograph|pict|snapshot|img")
_WHOLE = phrases(
    """the <photo>^14|this <photo>^10|my <photo>^2|the whole <photo>^2|the entire <photo>^2|
    the overall <photo>|this one|everything|the whole thing^2|this <photo> of <content>^2|
    the <photo> of <content>|the attached <photo>|the input <photo>|the original <photo>|
    the <photo> as a whole|my <photo> of <content>|the scene|the whole scene|the <photo> overall"""
)
_PRONOUN = phrases("it^8|this^2")

RAISE = phrases(
    """increase^12|raise^4|boost^4|bump up^2|turn up^3|crank up|push up|bring up^2|up|enhance^3|lift|
    amp up|dial up|pump up|add to|step up|heighten|kick up|jack up|ramp up|strengthen|bump"""
)
LOWER = phrases(
    """decrease^8|reduce^8|lower^6|turn down^3|bring down^3|dial back^2|dial down^2|tone down^3|
    knock down|cut^2|drop|pull down|take down^2|lessen^2|back off|cut back on|ease off|cut down on|
    pull back|diminish"""
)


def it(speaker: Speaker) -> str:
    """The photo: named at first, `it` later."""
    known = speaker.own.get("known")
    if speaker.chance(0.85 if known else 0.3):
        return speaker.say(_PRONOUN) if not known else "it"
    return thing(speaker)


def thing(speaker: Speaker) -> str:
    """The photo by a noun: what can stand after a particle (`brighten up the photo`)."""
    if speaker.own.get("known"):
        return speaker.say(phrases_of_known)
    speaker.own["known"] = _PRONOUN
    return speaker.say(_WHOLE)


phrases_of_known = phrases("the <photo>^3|everything|the whole thing")

RELATIVES = phrases(
    """sister|brother|mum|dad|grandma|grandpa|grandmother|grandfather|daughter|son|wife|husband|
    girlfriend|boyfriend|best friend|cousin|aunt|uncle|niece|nephew|friend|mother|father|parents|
    grandparents|kids|baby|family|boss|fiancee|neighbour|roommate|friends|in-laws|partner|
    great-grandmother|late father|late mother|little brother|little girl|little boy|twin|godson|stepdad|
    children|team|class"""
)
PETS = phrases("""dog^5|cat^5|puppy^2|kitten|horse|rabbit|parrot|hamster|tortoise|pup|goldfish|dogs|cats|
old dog|pony|hen""")
SUBJECTS = phrases(
    """garden|house|car|boat|bike|flowers|lunch|cake|painting|artwork|shop|room|guitar|tattoo|balcony|
    village|roof|kitchen|motorcycle|wedding ring|old school|truck|drawing|product|logo|van|desk|tent|
    hotel"""
)
SIGHTS = phrases(
    """the mountains|the beach|the sea|the sunset|a statue|the old town|the church|a lighthouse|
    the river|the lake|a castle|the city|the harbour|the forest|a bridge|a flower|the clouds|some trees|
    a waterfall|a bird|the skyline|the road|a butterfly|the market|an old building|the street|a sunrise|
    the ocean|the valley|a field|the station|a train|the fountain|the cathedral|the stadium|some rocks|
    a squirrel|the countryside|a plane|the desert|the island|the park|the bay|an owl|a tree|the snow|
    a leaf|the hills"""
)
CONTENT = phrases("""my <relative>^6|my <pet>^4|my <subject>^3|<sight>^5|us^2|me|our <pet>|our <subject>|
me and my <relative>^2|my <relative> and me|my <relative>'s <pet>|my <relative>'s <subject>|two friends|
a <pet>""")
EVENTS = phrases(
    """my <relative>'s wedding^4|our wedding^2|my <relative>'s birthday^3|my graduation^2|a concert^2|
    our honeymoon|a family reunion|a birthday party^2|Christmas^2|our anniversary|a football match|
    a funeral|my <relative>'s graduation|a picnic|the prom|new year's eve|Thanksgiving|a barbecue|
    the zoo^2|a museum|a restaurant|the christening|a baby shower|work|school|a job interview|a festival|
    Easter|Halloween|the airport|the fair|home|a party^2|a race|the gym|the office party|the school play"""
)
PLACES = phrases(
    """Rome|Paris|the beach^3|the mountains^2|Iceland|Japan|Scotland|the lake^2|our garden|the park^2|
    a cave|the kitchen|the church|London|New York|Spain|a boat|the forest|my grandma's house|Venice|
    Norway|the desert|Thailand|India|Mexico|Greece|Portugal|Canada|a museum|the balcony|our backyard|
    the car|the hotel|the woods|Hawaii|Italy|the countryside|Istanbul"""
)
PURPOSES = phrases(
    """my Instagram^2|a Christmas card^2|a poster|my profile^2|a birthday card|printing^2|a calendar|
    my website^2|a photo album^2|Facebook^2|a presentation|my LinkedIn|a canvas print|a gift^2|
    a surprise for my <relative>^2|the family album|a book cover|an album cover|my wallpaper|
    my portfolio|the funeral|a slideshow|a frame on the wall|our wedding invitations|a dating profile|
    an online shop|my blog|a school project|my phone background|the newsletter|a flyer|a competition|
    a memorial|a thank you card|a contest"""
)

STORIES = phrases(
    """I took this [<photo> |]at <event>^3|I took this [<photo> |]in <place>^2|this is [a <photo> of |
    ]<content>^3|this <photo> was taken at <event>^2|here's a <photo> of <content>^2|
    it's for <purpose>^2|we went to <place> last [year|summer|month|week|autumn|weekend]|
    my <relative> took this|I shot this with my [phone|old phone|new camera|iphone|dslr|film camera|
    tablet]^2|this is the only <photo> I have of <content>^2|my <relative> loves this <photo>|
    I'm no good at editing|I have no idea how to do this|this is my favourite <photo> of <content>^2|
    I want to print this|I'm using it for <purpose>|I need this <photo> for <purpose>^2|
    my <relative> [passed away|died] [last year|recently|
    two years ago] and this is my favourite <photo> of <them>|we got married yesterday|
    I found this <photo> in the attic|the <pet> finally sat still|it was raining that day|
    we were on holiday in <place>|it's my <relative>'s birthday [tomorrow|today|next week]|
    I'm trying to sell my <subject>|I'd like to hang it on the wall|this is from <event>^2|
    I am new to photography|I took it through the window|I took it out of the car|
    it's going to be used for <purpose>|I scanned this from an old album|
    it's a surprise for my <relative>|I don't have photoshop|I tried it myself and failed|
    my <relative> is a terrible photographer|this is <content> at <event>^2|
    that's <content> in <place>^2|I love this <photo>|we only got one <photo> of that day|
    this was taken with a [cheap|cracked|dirty|toy] camera|I'm going to frame it|
    this <photo> means a lot to me|my <relative> will be so happy|I am entering a photo contest|
    he hates being photographed|they look so happy here|she's only two years old|he is my hero|
    they got engaged that day|she was sitting by the window|we were walking along the river|
    it means the world to me|I've had it on my phone for ages|it was a cloudy day|it was taken outside|
    it was taken inside the house|I'll frame it|sorry for the quality|this was before the storm|
    my skills are limited|I'd be so grateful"""
)
ASIDES = phrases("""for <purpose>^4|for my <relative>|if you can^2|if possible^3|if that's possible|
when you have time|overall^3|in post|in general|for me^2|like in the other one|like the last one|
throughout^2|across the whole <photo>|as well|if that makes sense|without overdoing it|on RGB|
using [curves|levels|an adjustment layer]|on the surface""")
THEM = phrases("him|her|them")

GREETINGS = phrases("""hi[,|!| there,| all,| everyone,| guys,|]^4|hello[,|!|]^3|hey[,|!| guys,|]^3|
good [morning|evening|day],|dear [editor|all],|ok so|ok,|so,|hi can anyone help,|yo,|help!|hey there,""")
THANKS = phrases("""thanks^6|thank you^6|thx^2|cheers|thanks a lot^2|thanks in advance^3|ty|many thanks|
much appreciated^2|thank you so much^2|please and thank you|thanks guys|thank you very much|
it would be appreciated|tia|thanks so much|appreciate it|any help appreciated|love you all|
you guys are the best|will tip|bless you""")

ASKING = phrases(
    """[can|could|would] you [please |]^14|[can|could] [someone|somebody|anyone|anybody] [please |]^7|
    would you be able to |is it possible to ^2|is there any way to |any chance [you could |
    someone could ]|can I get someone to |could you maybe |can we |would it be possible to |how do I |
    do you think you could |will you |can u |could u pls |are you able to |may I ask you to |
    could you kindly |do you mind if I ask you to |pretty please can you |any way you can |
    would someone kindly |can you help me ^2|could someone help me ^2"""
)
ASKING_ING = phrases("""would you mind |how about |would anyone mind |do you mind |what about |
could you try ^2|can you have a go at |could somebody help with |any chance of |mind """)
ORDERING = phrases(
    """please ^8|pls |plz |just ^4|I want you to ^2|I'd like you to ^3|I need you to ^2|
    I would like to ^3|you should |try to ^2|go ahead and |kindly ^2|let's ^2|I'd love to |I want to ^3|
    help me ^2|maybe |perhaps |first of all |you need to |we need to |I would love for you to |
    hoping someone can |I was hoping you could |please help me |I was wondering if you could ^2|
    looking for someone to |I think we should |I would ask you to |I'd appreciate it if you could |
    it would be great if you could |wondering if anyone could |all I want is to |do me a favour and |
    I need someone to |need someone to |please try to |please just """
)

WANTING = phrases("""I want ^5|I'd like ^4|I'd love ^2|I would like ^3|I prefer |I need ^2|
I would prefer |we want |I'm after |I'd rather have |my client wants |my <relative> wants |I wish I had |
looking for ^2|I was hoping for |we'd like """)
WANTING_IT = phrases("""I want <it> ^5|I'd like <it> ^4|I'd love <it> |I would like <it> ^2|
I need <it> ^2|I'd like to see <it> |I want <it> to be ^3|I'd like <it> to be ^2|I'd prefer <it> |
I want <it> to look ^2|we want <it> |I would like <it> to look |I need <it> to be |
my <relative> wants <it> |I wish <it> were |I wish <it> was |I think <it> would look better ^2|
I like <it> """)
SHOULD_BE = phrases("""<it> should be ^4|<it> needs to be ^5|<it> could be ^3|<it> has to be |
<it> should look ^2|<it> would be better |<it> ought to be |<it> must be |<it> could look |
<it> would look nicer |<it> should have been |<it> might look better |<it> needs to look """)
HAVING = phrases("""<it> needs ^6|<it> could use ^3|<it> wants |<it> should have ^2|
<it> could do with ^2|<it> would be better with ^2|<it> would look better with ^2|
<it> would benefit from |<it> deserves |<it> must have |<it> would look great with |<it> requires """)
COULD_IT = phrases("""can <it> be ^2|could <it> be ^2|can we have <it> |can I have <it> ^2|
could I get <it> |can you get <it> |how would <it> look |can I get <it> ^2|could we see <it> """)
MAKING = phrases("""make <it> ^14|get <it> |make <it> look ^4|have <it> look |let <it> be |turn <it> |
render <it> |make sure <it> is |adjust <it> to be |edit <it> to be |edit <it> to look |change <it> to be """)
LOOKING = phrases("""<it> [is|looks|came out|turned out|seems|is looking|appears] ^9|<it> [is|looks] ^6|
I find <it> |I think <it>'s |<it> is just |<it> ended up |my <relative> says it's |<it> feels |
unfortunately <it> is |why is <it> |I feel like <it> is |<it> looks like it's |sadly <it> came out |
the <photo> I took is |<it> turned out |<it> appears to be |currently <it> is """)
TO_BE = phrases("""<it> needs to be ^5|<it> should be ^5|<it> must be |<it> could be ^2|I want <it> ^2|
I'd like to have <it> |can <it> be ^2|<it> needs |I want to see <it> |I would like <it> to be |
please have <it> |could you get <it> |<it> has to be |get <it> """)
RAISED = phrases("""increased^5|raised^3|boosted^2|turned up^2|enhanced^2|higher^3|stronger|bumped up|
brought up|lifted|adjusted up""")
LOWERED = phrases("""decreased^4|reduced^5|lowered^4|turned down^2|toned down^2|lower^3|brought down|
dialled back|cut back|minimised|adjusted down""")
QUANTITY_TO_BE = phrases("""should be ^6|could be ^3|must be ^2|ought to be |might be |can be |
should really be """)
THAN = phrases("""I'd like^3|it should be^3|I wanted^2|desired^2|I remember it|it was in real life^2|
it looked|needed|I would like|the others|most of the others|it was before|it should|the desired image|
expected""")
MENDING = phrases(
    """please fix [it|this|that]^5|can you fix [it|this|that]^4|fix [it|this|that]^3|can [you|anyone|
    someone] help^2|please help|any way to [fix|save] [it|this]^2|can this be [fixed|saved]^2|
    please correct [it|this|that]^3|can you correct that|make it right|could you sort that out|
    is there anything you can do|please do something about it|can it be saved|can you rescue it|
    sort it out please|please improve it|could somebody fix that|needs fixing|please adjust|
    adjust accordingly|can you balance that out|help me fix this|can you do something about it|fix pls|
    please make it better"""
)

NOUNS = {
    Attribute.LIGHTNESS: phrases("brightness^4|exposure^4|lighting|light|brightness level"),
    Attribute.CONTRAST: phrases("contrast"),
    Attribute.COLOURFULNESS: phrases("saturation^4|colours^5|vibrance|colour saturation"),
    Attribute.WARMTH: phrases("white balance^2|temperature^3|warmth^3|colour temperature^2"),
    Attribute.REDNESS: phrases("tint^4|reds|red-green balance|magenta"),
    Attribute.SHARPNESS: phrases("sharpness^4|details^2|focus|level of detail"),
}
"""What an attribute is called where nothing is to happen to it."""

COLOURS = phrases("colours^9|colour^2|colours and tones|hues")
"""What all attributes of colour are called together there."""

RESTRAINED = phrases(
    """not too much^9|not by too much^2|don't overdo it^4|without overdoing it^3|not too strong^2|
    don't go overboard^2|nothing too extreme^2|not overly so|without going overboard|nothing crazy|
    don't push it too far|not too far|keep it subtle^2|nothing drastic|not too heavy|only so much"""
)
"""How an amount is kept small without a word for it."""

KEEPING = phrases(
    """leave the <kept> alone^5|don't touch the <kept>^5|keep the <kept> as is^4|
    don't change the <kept>^5|do not change the <kept>^2|leave the <kept> as is^3|
    the <kept> should stay the same^2|no changes to the <kept>|don't mess with the <kept>^2|
    keep the same <kept>|I'm happy with the <kept>^2|I like the <kept>^2|hands off the <kept>|
    please don't alter the <kept>|leave the <kept> untouched^2|keep the <kept>^2|
    the <kept> should not change|preserve the <kept>|maintain the <kept>|nothing wrong with the <kept>"""
)
KEEPING_AFTER = phrases("""without [changing|touching|affecting|altering|messing up|
messing with] the <kept>^9|while [keeping|leaving] the <kept> [the same|as is|unchanged]^3|
while [preserving|maintaining] the <kept>^2|but not the <kept>^2|but keep the <kept>^3|
but leave the <kept> alone^3|but don't touch the <kept>^3|with the same <kept>|and leave the <kept> as is""")
WITHOUT_MAKING = {
    Attribute.LIGHTNESS: phrases("""without making it [darker|brighter|too bright|too dark|any darker|
    any brighter]|but not [darker|brighter]^2|just don't make it [darker|brighter]|
    but don't make it [darker|brighter]^2|but not any [darker|brighter]"""),
    Attribute.CONTRAST: phrases("""without making it [flat|harsh|contrasty|hazy]|but not [harsh|flat]|
    just don't make it [flat|harsh]|without losing contrast^2|but don't make it [flatter|harsher]"""),
    Attribute.COLOURFULNESS: phrases("""without [making the colours fake|washing out the colours|
    oversaturating it|making it garish]|but don't oversaturate it|just don't make the colours fake"""),
    Attribute.WARMTH: phrases("""without making it [yellow|warm|cold|blue|warmer|cooler|yellowish]|
    but not [warmer|cooler]^2|just don't make it yellow|but don't make it [warmer|cooler|yellow]"""),
    Attribute.REDNESS: phrases("""without making it [pink|green|greenish|pinkish]|but not pink|
    just don't make it [green|pink]"""),
    Attribute.SHARPNESS: phrases("""without [losing sharpness|losing detail|making it blurry|
    making it grainy|losing quality|oversharpening it]|but don't lose detail|just don't make it blurry"""),
}

_DASHED: dict[str, PhraseChoice | Filler] = {"it": it, "thing": thing}
LEXICON: dict[str, PhraseChoice | Filler] = {
    **_DASHED,
    "photo": PHOTO,
    "content": CONTENT,
    "relative": RELATIVES,
    "pet": PETS,
    "subject": SUBJECTS,
    "sight": SIGHTS,
    "event": EVENTS,
    "place": PLACES,
    "purpose": PURPOSES,
    "them": THEM,
    "than": THAN,
}
"""What fills the slots that every phrase may use."""
