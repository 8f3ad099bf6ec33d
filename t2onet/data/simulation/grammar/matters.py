"""Requests that no change of the whole photo can answer: what they are about, and how people put them."""

from __future__ import annotations

from .engine import PhraseChoice, phrases

PERSON = phrases(
    """the man^3|the woman^3|the guy^3|the girl^2|the boy|the lady^2|the kid|the child|the tourist|
    the stranger|my ex^2|my cousin|my sister|my uncle|the couple|the old man|the waiter|the person^2|
    the dude|the photobomber|the policeman|the cyclist|the cameraman|the photographer|that guy^2|
    that woman|the random guy|the gentleman|the player|the soldier|the human|the female|the young man|
    the blond kid|the figure|the character"""
)
PEOPLE = phrases("""the people^4|the tourists^3|all the people^2|the crowd^2|everyone else^2|
the strangers|the two guys|the other people|the passers-by|the kids|the girls|the group of people|
the two women|the bystanders|the persons|the men|the two random people|the other kids|the players""")
OBJECT = phrases(
    """the car^3|the sign^2|the bottle^3|the trash can^2|the pole^2|the power lines^3|the wires^2|
    the bag|the phone^2|the fence^2|the cup^2|the chair|the lamp|the truck|the beer^2|the bike|the boat|
    the umbrella|the building^2|the branch|the wall|the logo|the table|the glasses|the hat|the shirt|
    the cigarette^2|the tree^2|the finger^2|the hand^2|the plate|the box|the bird|the rope|the flag|
    the light switch|the socket|the cables|the street sign|the bench|the ladder|the leash^2|the stroller|
    the cone|the fire hydrant|the helmet|the microphone|the curtain|the mirror|the plant|the window|
    the door|the clock|the ball|the straw|the wine glass|the shoe|the jacket|the backpack|
    the water bottle|the graffiti|the parked cars|the crane|the scaffolding|the reflection^2|
    the selfie stick|the tripod|the arm^2|the leg|the shoulder|the bottles|the cups|the chairs|
    the laptop|the other objects|the purse|the stuff|the cell phone|the thumb|the bicycle|the vehicle|
    the plastic bag|the papers|the plants"""
)
BLEMISH = phrases("""the dark spot on <where>^2|the black line across <where>|the white spot on <where>|
the scratches^2|the dust spots^2|the lens flare^2|the stain on <where>^2|the red eye^2|
the crease down the middle^2|the water drops on the lens|the fold marks|the bright dot in the corner|
the spots|the marks on <where>|the fingerprint|the crack in <where>|the yellow stain on <where>|
the blue smudge on <where>""")
WHERE = phrases("""the wall|her shirt|his jacket|the table|the floor|her dress|the road|the left|
the lens|the sky|the ceiling|his face|the window|the grass|her cheek|the car|the shirt""")
SPOT = phrases("""in the background^6|on the left^4|on the right^4|behind <us>^3|in the corner^2|
in the middle^2|in the red shirt^2|in the blue jacket|at the bottom^2|on the far left|at the top|
next to me^2|in the back^2|with the hat|in the white dress|behind her head|in front of the house|
standing behind me|on the wall|holding the camera|in the water|by the door|with the green bag|
on the bottom right|in black|wearing the yellow coat|to the right of the tree|sitting on the bench^2|
walking by^2|on the ground^2|above my head|lying on the table|near the stairs|facing the camera|
at the end of the row|beside the chair|in the striped shirt|with the cap|against the wall|in shorts""")
US = phrases("us^2|me^3|her|him|them|the couple|my dog|my head|the baby|my son|the bride")
HUE = phrases("""red^3|blue^3|green^3|yellow|black^2|white^2|pink^2|purple|orange|silver|gold|brown|grey|
turquoise|blonde|navy""")
GARMENT = phrases("""the car^3|her dress^3|his shirt^3|my shirt^2|the house|the door|the wall^2|
her hair^3|my hair^2|the tie|the sofa|his jacket^2|her lips|her eyes^2|the hat|my eyes|the flowers|
the bike|the roof|the grass|the shoes|the couch|the balloons|the logo|the truck|the umbrella|
the curtains|the jersey|her nails|his pants|the sweater|her hoodie|the clothes|the elephant|the walls|
the text|the dress|the suit""")
PART = phrases("""her eyes^3|his face^3|her face^3|my face^2|her skin|her teeth^2|my teeth^2|the eyes|
the faces^2|the sky^3|the grass^2|the dog^2|the foreground^2|the background^3|the left side|the top half|
the bottom half|the left half|her hair|the flower|the water^2|the building|the car|the trees|the subject|
the man's face|the bride|the window|the mountain|the person on the left|the lower half|the baby's face|
the wall|the statue|the corner|the cat's eyes|the right side|the clouds|the middle""")
ADDED = phrases("""a hat|a moustache|a rainbow^2|a sunset|some clouds^2|a dog|my dad|my grandfather|
a moon|stars^2|snow|flames|a beard|a border^2|a frame^2|some birds|sunglasses^2|a superhero cape|
a unicorn|a crown|a dragon|fireworks|a car|a beach|some text|more people^3|more flowers^2|more trees|
a person|a tie|wings|lightning|a reflection|a shadow under the car|a halo|a smile|a tattoo|another cat|
more snow^2|some trees|balloons|a light sabre|confetti|rain|fog around the trees|a light in the window|
a santa hat|a cup of coffee""")
SETTING = phrases("""a beach^3|a forest^2|the Eiffel Tower^2|space^2|a white wall^2|
a plain white background^4|a sunset^2|a studio backdrop^2|the moon|a castle|mountains^2|a starry sky|
a city skyline|a transparent background^3|something nicer^2|a solid colour|a green screen|
a tropical island|a blue sky^2|a dramatic sky|a field of flowers|a blurred cafe|an ocean|Times Square|
a volcano|a black background^2|a simple backdrop""")
TEXT = phrases("""happy birthday^3|merry christmas^2|just married|my name^2|a caption^2|our names^2|
the date^2|a quote|our logo^2|a speech bubble|a watermark^2|the title of the book|a phone number|
a signature|Happy New Year|the word love|a funny caption|a slogan""")
BODY = phrases("""my nose|my belly^2|her waist|his arms|my teeth|her legs|my chin^2|my ears|her lips|
my hips|his shoulders|my forehead|my cheeks|her hair|my eyes|his head|her arms""")
FLAWS = phrases("""the pimples^3|my wrinkles^3|the acne^3|the dark circles under my eyes^2|the scar|
the double chin^2|the bags under her eyes^2|her freckles|the red spots on my face^2|
the shine on his forehead|the sweat|the blemishes^2|my zits|the stubble|my braces|the bruise|
the tan lines|the mole""")
_SLOTS = {
    "person": PERSON,
    "people": PEOPLE,
    "object": OBJECT,
    "blemish": BLEMISH,
    "where": WHERE,
    "spot": SPOT,
    "us": US,
    "hue": HUE,
    "garment": GARMENT,
    "part": PART,
    "added": ADDED,
    "setting": SETTING,
    "text": TEXT,
    "body": BODY,
    "flaw": FLAWS,
}
NOUNS: dict[str, PhraseChoice] = _SLOTS
"""What fills the slots of this table only."""

MATTERS = {
    "crop": phrases("""crop <it>^4|crop <it> to a square^2|crop out <object>^2|crop out <person>^2|
    crop <it> tighter[ around <us>|]^2|trim the [edges|top|bottom|left side|sides]^2|zoom in on <us>^3|
    zoom in^2|make <it> a 16:9|crop closer to the face|cut off the [left|right|bottom|top]^2|crop to 4:3|
    crop so that <us> is in the centre|zoom out|centre <us> in the frame^2|make <it> a headshot|
    crop to the rule of thirds|cut <us> out|crop to passport size|crop the photo and centre it|
    crop <part> out|make <it> wider|bring <us> closer"""),
    "rotate": phrases("""rotate <it>^3|rotate <it> [90|45|180] degrees[ clockwise|]^4|
    flip <it> [horizontally|vertically|upside down|]^4|turn <it> upside down|mirror <it>^2|
    turn <it> the right way up^2|turn <it> [sideways|clockwise|on its side]^2|make <it> [portrait|
    landscape] instead of [landscape|portrait]|rotate <it> to the [left|right]^2|turn <object> around|
    it's sideways, turn it|make <person> face the other way^2|rotate <object>|swap left and right"""),
    "straighten": phrases("""straighten <it>^4|straighten the horizon^4|level the horizon^3|
    it's crooked, straighten it^2|the horizon is [crooked|tilted|not straight]^2|fix the perspective^2|
    make the building[s|] straight^2|fix the tilt^2|correct the lens distortion^2|
    make the lines vertical|the <photo> is tilted, fix it|the picture is a bit crooked|
    fix the crooked horizon|straighten out <object>|un-warp <it>|level <it>"""),
    "remove_object": phrases("""remove <object>[ <spot>|]^8|I want <object> removed^2|
    have <object> removed^2|get rid of <object>[ <spot>|]^4|erase <object>^3|delete <object>[ <spot>|]^3|
    take out <object>^2|take <object> out^2|photoshop out <object>^2|edit out <object>^2|
    take <object> off <where>|make <object> disappear^2|clone out <object>|
    remove <object> and <object>^2|I don't want <object> in it|clean up the junk <spot>|
    remove <object> from the [<photo>|background]^3|can <object> go|cover up <object>|hide <object>|
    remove everything except <us>"""),
    "remove_person": phrases("""remove <person>[ <spot>|]^6|remove <people>[ <spot>|]^5|
    I'd like <people> removed^2|I want <person> removed from it^2|get rid of <person>[ <spot>|]^3|
    photoshop <person> out^3|edit out <people>[ <spot>|]^2|delete <person>^2|take <person> out of <it>^2|
    make <people> disappear^2|erase <people> <spot>^2|I want just me and my dog in it|
    remove everyone but <us>^2|remove <person> so it's just <us>^2|make it look like <us> alone|
    cut <person> out^2|take <people> out|remove <person> and keep <us>|can you lose <person> <spot>"""),
    "remove_blemish": phrases("""remove <blemish>^8|get rid of <blemish>^4|clean up <blemish>^3|
    fix <blemish>^3|erase <blemish>^2|repair <blemish>|restore this old photo, it has scratches^2|
    repair the [tear|torn corner|water damage]^2|heal <blemish>|take out <blemish>|
    there's <blemish>, remove it|restore the missing [piece|corner]|fix the rips and tears|
    restore <it>, it's badly damaged"""),
    "add_object": phrases("""add <added>^6|add <added> <spot>^3|add <added> to <it>^3|
    put <added> on <us>^3|put <added> <spot>^2|photoshop <added> in^2|give <person> <added>^2|
    insert <added>^2|I want <added> in it^2|draw <added>|place <added> next to <us>^2|
    make it look like there's <added>|fill the sky with <added>|add <person> from the other picture^2|
    combine these two pictures^2|merge both photos|put my head on <person>'s body|
    swap faces with <person>"""),
    "replace_background": phrases("""replace the background with <setting>^4|
    change the background to <setting>^5|change the background[ <spot>|]^2|remove the background^5|
    put <us> in front of <setting>^3|put <us> on <setting>|replace the sky with <setting>^2|
    make the background transparent^3|make the background white^4|make the background <hue>^3|
    cut out <us> and put <us> on <setting>|swap the sky^2|change the sky^2|
    give me <setting> as a background|isolate <us>^2|erase the background|remove bg^2|
    make it look like I'm at <setting>|put <hue> behind <us>|white out the background|
    black out the background|replace the white background|new background please"""),
    "blur_background": phrases("""blur the background^9|blur out the background^3|add bokeh^2|
    make the background [blurry|out of focus|softer|fuzzy]^4|soften the background^2|
    give <it> a shallow depth of field^2|blur everything except <us>^3|blur <person>'s face^2|
    blur out the licence plate^2|pixelate the faces|keep <us> sharp and blur the rest^2|
    add motion blur to the car|blur <part>^2|put the background out of focus|
    fake a shallow depth of field|add a tilt-shift effect|blur the edges around <us>|censor <object>"""),
    "recolour_object": phrases("""make <garment> <hue>^8|change <garment> to <hue>^5|
    turn <garment> <hue>^3|change the colour of <garment>^4|change the colour of <garment> to <hue>^3|
    paint <garment> <hue>^2|dye <garment> <hue>|I want <garment> in <hue>^2|recolour <garment>^2|
    give <person> <hue> hair^2|give her <hue> eyes|make <garment> <hue> instead of <hue>^2|
    swap the colour of <garment>|make everything black and white except <garment>^3|
    keep only <garment> in colour^2|colourise this old photo^2|colourise <it>|
    selective colour on <garment>"""),
    "local_light": phrases("""brighten only <part>^3|brighten <part>^4|lighten <part>^3|darken <part>^4|
    darken only <part>|only darken <part>^2|make <part> brighter^4|make <part> darker^3|whiten <part>^2|
    just brighten <part>^2|only lighten <part>|make only <part> sharper|sharpen <part>^3|
    sharpen only <part>|saturate only <part>|make <part> more [blue|green|vivid|colourful|yellow]^3|
    make <part> pop^2|more contrast in <part>^2|bring out the colour of <part>^2|<part> is too [dark|
    bright|blurry|yellow]^3|add a vignette^2|darken the edges^2|darken the corners|dodge <part>|
    add light to <part>^2|brighten <part> but nothing else^2|reduce the glare on <part>|
    warm up only <part>|desaturate everything but <part>^2|brighten <part> and darken <part>^2|
    brighten up <part> a bit^2|spotlight <us>"""),
    "text": phrases("""add text that says <text>^2|write <text> on it^3|add <text>^3|add <text> <spot>^2|
    put <text> at the [bottom|top]^2|remove the watermark^4|remove the text^3|remove the date stamp^2|
    change the text on the sign^2|fix the typo on the sign^2|delete the writing <spot>^2|
    blank out the number plate|make the text bigger^2|add a watermark^2|erase the logo^2|
    remove the words <spot>^2|make the letters bold|change the name on the shirt to Smith|
    turn it into a meme|what font is that"""),
    "retouch": phrases("""remove <flaw>^6|make <us> thinner^2|slim <body>^2|whiten <body>^2|
    make <body> smaller^2|fix <body>^2|remove <flaw> from my face^2|make me look younger^3|
    smooth my skin^3|open <person>'s eyes^3|close my mouth|make me smile^2|fix my hair^2|give me abs^2|
    make me taller^2|make me look [thin|skinny|muscular|pretty|handsome]^2|get rid of <flaw>^3|
    hide <flaw>^2|I look fat, help|put make-up on <us>|airbrush my skin^2|
    his eyes are closed, open them^2|make my eyes bigger^2|reshape <body>|touch up <flaw>|
    make her look less tired|remove my glasses^2|make <person> bald|fix the flyaway hairs"""),
    "size": phrases("""upscale <it>^3|increase the resolution^3|make <it> 4k^2|resize <it> to 1080p^2|
    make <it> bigger^2|make the file smaller^2|compress <it>|enlarge <it>^2|convert <it> to png^3|
    save <it> as a pdf^2|increase the dpi to 300^2|make <it> HD|turn <it> into a vector^2|
    change the aspect ratio^2|remove the noise^2|remove the grain^2|denoise <it>|
    make the size 600 by 400|export as jpeg|make it fit on A4|double the pixels|make a gif out of <it>|
    make a transparent png^2|make <it> printable at poster size|reduce the file size|it's grainy, fix it|
    make it a square of 500 pixels|vectorise the logo"""),
    "style": phrases("""turn <it> into a painting^3|make <it> look like a cartoon^3|
    make <it> an oil painting^2|turn <it> into a pencil sketch^3|make <it> look like anime^2|
    make <it> pixel art|draw <it> as a comic^2|turn <us> into [a zombie|an elf|superheroes|a statue|
    lego]^2|make <it> look like Van Gogh^2|animate <it>|make <it> 3d|turn day into night with stars|
    make a collage^2|make a poster out of <it>|turn <it> into a stencil|
    make it a movie poster with titles|make it look like stained glass|line art please"""),
    "move": phrases("""move <us> to the left^3|move <object> closer^2|put <us> in the centre^2|
    swap <person> and <person>^2|make <object> bigger^2|bring <person> closer to <us>^3|
    make <object> smaller|switch the places of <us> and <person>|turn <person>'s head^2|lift up <object>|
    make <person> taller than <us>|extend the [sky|background|wall|left side]^2|
    fill in the missing corner|stretch <it>^2|duplicate <object>^2|make two of <object>|
    fill the empty space <spot>|straighten <object>"""),
    "chat": phrases("""what's the weather today|who is in this photo|hello|how are you|
    where was this taken|tell me a joke|what camera was used|what is 2+2|can you hear me|
    thanks, that's all|who won the game last night|nice|what time is it|do you like it|
    what kind of dog is that|how much does it cost|is this a good photo|what can you do|never mind|test|
    are you a robot|describe this picture|what does the sign say|how many people are there|I love you|
    good bot|undo|go back|send it to my mum|delete this photo|print two copies|email it to me|
    open another photo|show me the original|what's your name|good morning|what breed is this cat|
    which lens should I buy|write a poem about it|is she pretty|count the birds|
    what's the capital of France|play some music|lol|ok|no|yes|maybe later|where do I click|I don't know|
    share it on Facebook|find similar photos|when was it taken|rate this picture|call me|
    book a table for two"""),
    "gibberish": phrases("""asdf|asdfgh|qwerty|blah blah blah|lorem ipsum|xxxx|hjkl|jkfdsa|test test 123|
    ...|???|foo bar|aaaaaa|zzz|abc|1234|dfgdfg|uiop|nnm|na|n/a|none|hmm|banana|the the the|
    purple monkey dishwasher|la la la|fish|colourless ideas sleep|gfhj kl|x|idk|mnbv|qwe rty|wasd|
    loremipsum|bla|something something|sfdg|hgjf|yyyy"""),
}
"""Of each matter, requests as orders, remarks or questions."""
ALONE = frozenset({"chat", "gibberish"})
"""Matters that are whole requests: nobody says please to them."""
