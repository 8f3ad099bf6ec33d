"""What people call each photographic change: for each kind, the words of its two sides."""

from __future__ import annotations

from ..wish import ChangeKind
from .sides import Side, side

SIDES: dict[tuple[ChangeKind, int], Side] = {
    (ChangeKind.EXPOSURE, 1): side(
        done="brightened^5|lightened^3|lit up^2|brightened up^2|exposed more|illuminated",
        does="""brighten <it>^9|lighten <it>^6|brighten up <thing>^2|brighten <it> up^2|lighten <it> up|
        lighten up <thing>|light <it> up|lift <thing>|make <it> bright|bring [up|out] the light|
        expose <it> up|add light to <it>|let more light in|bring <it> out of the dark|
        push the exposure up|illuminate <it>|raise the exposure slider|shine more light on <it>|
        make <it> look lit up|turn the lights up|turn up the lights|wash away the darkness|whiten <it>""",
        quantity="""brightness^9|exposure^6|light^3|lighting^3|light level|luminosity^2|lightness^2|
        overall brightness^2|brightness level|exposure value|overall exposure|ambient light|
        general brightness|illumination|luminance|gamma|brightness setting|light intensity""",
        mass="""light^6|brightness^6|exposure^3|lighting^2|luminosity|daylight|illumination|
        natural light^2|ambient light|luminance|lightness""",
        compared="""brighter^12|lighter^6|more bright^2|more luminous|better lit|more exposed|
        more visible^2|easier to see|more illuminated|whiter|better exposed|more lit up|
        easier to make out""",
        state="bright^5|light|harsh and bright|white",
        flaw="""overexposed^4|blown out^2|over exposed^2|over-exposed|overlit|burnt out|whited out|
        glaring|washed out by the light""",
        remark="""there's <toomuch> light|the light is <too> harsh|there's <toomuch> glare|
        the flash blew <it> out|it's so bright it hurts|
        the sun was behind me and <it> came out <too> bright|I left the exposure too high|
        the exposure is <too> high|the brightness is <too> high|the lighting is <too> strong|
        the sun washed everything white|the sun was <too> strong""",
        wail="""it's [nearly|almost] [pure|all|completely] white|it hurts my eyes|
        everything is blown out|I need sunglasses to look at it""",
        goal="""so [we|I|you] can see [what's going on|more|the details|the faces|it better|
        everyone's faces]|so [that |]the details show|to bring out the details|so [that |
        ]everything [is visible|shows|can be seen]|so it's easier to see|to reveal more [detail|
        of the scene]|so the details are visible|to simulate more light|to look like daylight|
        so that [people|features] are more visible|to simulate [natural|sun|day] light|
        until the details show|until [it looks like daytime|everything can be seen]|
        so it looks like it was taken [in daylight|on a sunny day|in the middle of the day]""",
    ),
    (ChangeKind.EXPOSURE, -1): side(
        done="darkened^5|dimmed^2|toned down in brightness|exposed less",
        does="""darken <it>^12|make <it> dark|dim <it>^2|bring <it> down in brightness|
        pull the exposure down|underexpose <it>|dim the light[s|]|dim the lighting|turn the lights down|
        turn down the lights|darken up <thing>|take some light out|take light out of <it>|cut the light|
        stop <it> down|expose <it> down|block some of the light""",
        quantity="darkness",
        mass="darkness^4|shade",
        compared="""darker^12|dimmer^3|more dark^2|less exposed|more underexposed|lower in brightness|
        more dimly lit""",
        state="dark^12|dim^3|gloomy^2|shadowy|black|darkish|dull and dark|badly lit|poorly lit|murky",
        flaw="underexposed^4|under exposed^2|under-exposed|underlit|in the dark|lost in the dark|backlit",
        remark="""I can't [really |]see [much|what's going on|anyone's face|the details|a thing|
        the faces|the colours]|[there's|there is] not enough light|the exposure is <too> low|
        [the room was|it was] <too> dark [in there|when I took it]|the flash didn't go off|
        my flash didn't fire|the light[ing|] is <too> [dim|low|poor|weak]|it's hard to see anything|
        you can hardly see [us|anyone|them|anything]|the details are lost in the dark|
        the sun was behind [us|them]|faces are hard to make out|you can't make out the faces|
        the camera [underexposed it|metered for the sky]|the light was [terrible|bad|poor|awful]|
        this is hard to see""",
        wail="""[it's|it is] [almost|nearly|practically] [pitch |]black|can't see a thing|
        I can't see anything at all|you can't see anything|it's pitch dark|everything is [black|
        lost in darkness]|it looks like it was shot in a cave|hardly anything is visible""",
        goal="""so the sky isn't blown out|so it's easier on the eyes|to cut the glare|
        so it feels like evening|to look like night|to get rid of the glare|so it isn't so glaring|
        so that it looks like dusk|so it doesn't hurt my eyes|so the [sky|clouds] show""",
    ),
    (ChangeKind.CONTRAST, 1): side(
        done="made more contrasty|dehazed|given more contrast^2",
        does="""boost the contrast|punch <it> up|deepen the blacks|make <it> contrasty|
        strengthen the contrast|cut through the haze|get rid of the haze|dehaze <it>|
        make the [darks darker and the lights lighter|blacks blacker and the whites whiter]|
        add some punch|clear the haze|remove the [haze|fog|foggy look]|stretch the tones|
        make the darks and lights stand apart|contrast <it>|separate the lights from the darks|
        increase the difference between light and dark|steepen the curve|add an S curve|
        give <it> an s-curve|accentuate the contrast|make the blacks <much> [deeper|darker]""",
        quantity="""contrast^16|tonal contrast|contrast level|overall contrast^2|
        difference between light and dark|tonal range|contrast ratio|contrast value|contrast setting""",
        mass="contrast^14|punch^2|depth|difference between light and dark|bite",
        compared="""more contrasty^3|punchier^3|higher in contrast^2|less hazy|more contrasted^3|
        stronger in contrast|more high-contrast|more defined in light and dark""",
        state="contrasty^6|harsh^4|hard",
        flaw="over-contrasty|high in contrast|crushed",
        remark="""the contrast is <too> [high|strong|harsh|much]|
        the difference between light and dark is <too> [big|harsh|great]|there's <toomuch> contrast|
        the blacks are <too> heavy|the tones are <too> harsh|the contrast is overdone""",
        wail="""it's all black and white with nothing in between|the contrast is brutal|
        there are no midtones left""",
        goal="""so [that |]it stands out|so the shapes stand out|so it doesn't look [flat|so flat|foggy|
        hazy]|so it has more depth|to give it [some |]depth|
        so the subject stands out from the background|to make things stand out|
        to define the edges of things|until it stands out|for more emphasis|for greater depth""",
    ),
    (ChangeKind.CONTRAST, -1): side(
        done="flattened^2|given less contrast^2|made less contrasty",
        does="""flatten <it>^2|flatten <it> out|flatten the tones|soften the contrast|fade <it>|
        make <it> flat|even out the tones|level out the light and dark|make <it> look hazy|
        lift the blacks|compress the tones|even out the contrast|tame the contrast|ease the contrast|
        relax the contrast|give <it> a [matte|flat|faded] look|mute the contrast|
        bring the lights and darks closer together|smooth out the tones""",
        quantity="flatness|fade|haze",
        mass="fade|haze|softness in the tones",
        compared="""flatter^3|less contrasty^4|less harsh in contrast|lower in contrast^2|
        less contrasted^2|hazier|more matte|softer in contrast|gentler in contrast""",
        state="flat^8|hazy^3|foggy|dull and flat|milky|misty|muddy|lifeless and flat|grey and flat",
        flaw="""washed out^5|washed-out|low in contrast|lacking in contrast|faded out|lacking contrast|
        without any depth""",
        remark="""there's no contrast|the contrast is <too> low|there's not enough contrast|
        everything blends together|the blacks look grey|the blacks aren't black|[there's|
        it has] <kind> haze over [it|everything]|it was <too> foggy|it doesn't have any [depth|punch]|
        the tones are <too> flat|it has no depth|the lights and darks all look the same|
        it looks like there's a fog over it|it has a grey film over it|there's no real black in it|
        the contrast is poor""",
        wail="""it's just grey fog|it looks like looking through milk|everything is one grey soup|
        there's absolutely no contrast""",
        goal="""so it feels softer in tone|so it isn't so harsh|so the tones are more even|
        to tone down the harsh look|so there's less difference between light and dark""",
    ),
    (ChangeKind.CHROMA, 1): side(
        done="saturated more^2|made more colourful|made more vivid|saturated",
        does="""saturate <it>^4|saturate the colours^3|make the colours pop^4|enrich the colours|
        intensify the colours^3|enhance the colours^3|boost the colours^3|bring out the colours^4|
        strengthen the colours^2|make the colours <much> [stronger|more vivid|more vibrant|bolder|richer|
        more intense|deeper|more saturated]^6|pump up the colours|bump the colours|turn up the colour[s|
        ]^2|add life to the colours|make <it> colourful|liven up the colours|bring the colours to life|
        make the colours stand out^2|juice up the colours|deepen the colours|revive the colours|
        colour <it> up|amp up the colours|punch up the colours|make the colours <much> more [powerful|
        pronounced|lively|brilliant]|bring the colour back|restore the colours""",
        quantity="""saturation^14|vibrance^4|vibrancy^3|colour saturation^3|colour intensity^4|
        colourfulness|intensity of the colours|colour^2|chroma|richness of the colours|vividness|
        strength of the colours|richness of the shades|colour strength|colour vibrancy|colour depth|
        sat level""",
        mass="""colour^6|saturation^6|vibrance^3|vibrancy^2|colour intensity^2|life in the colours|
        vividness|richness|colour saturation|intensity in the colours""",
        compared="""more colourful^6|more vibrant^6|more vivid^5|more saturated^5|richer^2|
        richer in colour|stronger in colour|bolder in colour|more lively in colour|
        more intense in colour|more intensely coloured|livelier in colour""",
        state="colourful^2|saturated^4|garish^3|gaudy|vivid|vibrant|loud|neon",
        flaw="oversaturated^4|over-saturated|over saturated^2|radioactive|cartoonish in colour",
        remark="""the colours are <too> [strong|intense|loud|bright|bold|vivid|garish|saturated|heavy]^3|
        the saturation is <too> [high|strong]|there's <toomuch> colour|there's <toomuch> saturation|
        my phone oversaturated it|the colours look [fake|artificial]|somebody overdid the saturation|
        the colours hurt my eyes""",
        wail="""it looks radioactive|the colours are screaming|it looks like a neon sign|
        the colours burn my eyes""",
        goal="""so the colours [pop|stand out|come alive|come through|really shine]^2|so it looks [alive|
        lively|more lively|full of life]|to make it livelier|to bring it to life""",
    ),
    (ChangeKind.CHROMA, -1): side(
        done="desaturated^3|muted^2|toned down in colour|made less colourful",
        does="""desaturate <it>^5|desaturate the colours|mute the colours^4|tone down the colours^4|
        soften the colours|dull the colours|calm the colours down|fade the colours|wash out the colours|
        make the colours <much> [weaker|paler|more muted|less intense|less vivid|less saturated|duller|
        more subtle|less loud]^4|take some [of the |]colour out|drain [some of |]the colour|
        subdue the colours|tame the colours|pull back the colours|remove some [of the |]colour|
        take the colour down|weaken the colours|make the colours pastel|quiet the colours|
        dull down the colours|bleach the colours""",
        compared="""less colourful^4|less saturated^5|more muted^4|less vivid^3|less vibrant^3|
        paler in colour|duller in colour^2|more subdued|greyer|less intense in colour|
        more washed out in colour|less garish|more pastel|more neutral in colour""",
        state="""dull in colour^2|colourless^2|pale^2|drab^2|drained|lifeless in colour|muted|
        desaturated|bland in colour""",
        flaw="""undersaturated^2|under-saturated|desaturated|faded in colour|drained of colour|
        lacking colour^2|lacking in colour""",
        remark="""the colours are <too> [dull|weak|pale|faded|muted|flat|washed out|bland|grey|drab]^4|
        the saturation is <too> low|there's not enough colour|
        the colours don't [pop|come through|stand out|look alive]^2|the colours [faded|have faded]|
        the colours got lost|the colours were so much stronger in real life|it lacks colour|
        the colours look dead|the colours look washed out|it needs colour""",
        wail="""all the colour is gone|there's practically no colour left|it's almost grey|
        there's hardly any colour""",
        goal="""so the colours are easier on the eye|so the colours look more natural|
        so it isn't so garish|to make the colours calmer|so the colours don't scream|
        so the colours look realistic""",
    ),
    (ChangeKind.TEMPERATURE, 1): side(
        done="warmed up^4|warmed|made warmer^2",
        does="""warm <it> up^5|warm up <thing>^3|warm <it>^2|make <it> warm|
        make the tones <much> warmer^2|make the colours <much> warmer^3|give <it> a [warm|golden|sunny|
        warmer] [tone|glow|feel|look]^4|take the blue out^2|add [a warm filter|a warming filter|
        golden tones]^2|warm up the colours|make <it> golden|cut the blue|shift the white balance warmer|
        remove the blue [tint|cast|tone|hue]^3|get rid of the blue [cast|tint|tinge]^2|
        move the temperature towards yellow|make <it> yellowish|tint <it> yellow|take the cold out|
        counter the blue|take away the cold tones|correct the blue cast|neutralise the blue cast|
        tone down the blues|shift <it> towards yellow|warm the white balance[ up|]|
        make <it> look like golden hour""",
        quantity="""warmth^8|temperature^5|colour temperature^3|warm tones^2|yellow tones|warmness|
        white balance temperature|yellow hue|kelvin""",
        mass="""warmth^9|warm tones^3|yellow^2|golden light^2|yellow tones|warm light^2|gold|
        warm colours|yellow hue|golden tones|sunlight warmth|yellow light|warm hues""",
        compared="""warmer^12|more golden^2|more yellow^2|yellower^2|less cold^2|less blue^2|
        warmer in tone^2|warmer toned|more warm^2|warmer in colour|toastier|more yellowish""",
        state="warm^4|yellow^6|yellowish^2|golden|jaundiced|yellow-looking|yellow toned",
        flaw="yellow all over|tinted yellow|off in white balance towards yellow",
        remark="""there's <kind> yellow [cast|tint|tinge|tone|hue]^4|it has <kind> yellow [cast|tint|
        tinge|hue|glow]^3|the light bulbs made everything [yellow|look yellow]|
        the white balance is <too> warm^2|the whites look yellow^2|the tones are <too> warm|
        my camera made it <too> yellow|the lamps turned everything yellow|the colours are <too> warm^2|
        it has <kind> warm cast|the snow looks yellow|everyone looks jaundiced""",
        wail="""everything is yellow|it looks like it was dipped in mustard|it's as yellow as a lemon|
        we all look like we have jaundice""",
        goal="""so it feels [cosy|like a summer evening|like golden hour|like late afternoon]^2|
        so the whites don't look blue|so it isn't so cold|like the sun is setting|to look like a sunset|
        so it looks sunny and warm|so that it looks like sunshine""",
    ),
    (ChangeKind.TEMPERATURE, -1): side(
        done="cooled down^4|cooled|made cooler^2|made less yellow",
        does="""cool <it> down^5|cool <it> off|cool down <thing>^2|cool <it>^2|make <it> cool|
        make the tones <much> cooler^2|make the colours <much> [cooler|colder]^3|give <it> a [cool|cold|
        icy|wintry|bluish] [tone|feel|look|hue]^4|take the yellow out^5|remove the yellow [tint|cast|
        tone|hue]^4|get rid of the yellow [cast|tint|tone|tinge]^3|kill the yellow cast|
        neutralise the yellow|make <it> icy|take out some of the yellow|shift the white balance cooler|
        move the temperature towards blue|cut the yellow|remove the warm cast|make <it> bluish|
        add a cool filter|remove [the |some ]warmth^2|tone down the yellow[s|]|make <it> chilly|
        correct the yellow cast|drop the colour temperature|make the whites <much> less yellow|
        take down the warmth|make <it> blue-toned""",
        quantity="coolness^2|cool tones^2|blue tones|blue hue|coldness",
        mass="""coolness|cool tones^3|blue^2|cool light|cold tones|blue light|blue hue|cool hues|
        cool colours|blue tones^2""",
        compared="""cooler^12|colder^4|icier|less warm^3|less yellow^5|more blue^2|bluer^2|
        cooler in tone^2|more cool^2|cooler toned|more wintry|chillier|less golden|more bluish|
        less yellowish""",
        state="cold^6|blue^6|bluish^2|icy|cool|chilly|blue-looking|blue toned",
        flaw="blue all over|tinted blue|off in white balance towards blue",
        remark="""there's <kind> blue [cast|tint|tinge|tone|hue]^4|it has <kind> blue [cast|tint|tinge|
        hue]^3|the snow looks blue|the white balance is <too> cold^2|the whites look blue^2|
        the tones are <too> cold|the shade made everything blue|the colours are <too> cold^2|
        our faces look cold|it has <kind> cold cast|everything has a cold feel|
        the white balance is <too> cool""",
        wail="""everything is blue|it looks like it was taken under water|we all look frozen|
        it's as blue as a smurf""",
        goal="""so the whites are white|so the white looks white|so it feels like winter|
        so it isn't so yellow|so it feels crisp and cold|so it looks like an overcast day|
        to neutralise the lamp light|so the walls look white""",
    ),
    (ChangeKind.TINT, 1): side(
        does="""shift the tint towards magenta^2|push the tint towards magenta|make <it> [pinkish|
        rosy]^2|take the green [cast|tint|tinge] out^3|remove the green [cast|tint|tinge]^4|
        get rid of the green [cast|tint|tinge]^3|neutralise the green cast|
        move the tint slider to magenta|add a pink tint^2|add a [magenta|rosy|pink] [tint|tone|hue|
        tinge]^3|cancel the green tint|fix the green tint|correct the green cast|give <it> a [rosy|pink|
        magenta] [glow|tint|tone|hue]^2|compensate for the green cast|fix the green skin tones""",
        quantity="magenta^4|magenta tint|pink tint|rosiness|magenta tones|pink tones|pink hue",
        mass="magenta^6|pink^2|rosy tones|pink tones|magenta tint|rosiness|magenta tones",
        compared="more magenta^5|rosier^2|pinker^3|more pink^2|pinkish|more rosy|more pinkish",
        state="magenta^5|pink^5|pinkish^2|rosy|magenta-looking",
        flaw="tinted magenta|pink all over|tinted pink|off towards magenta",
        remark="""there's <kind> [magenta|pink] [cast|tint|tinge|hue]^4|it has <kind> [magenta|pink|
        pinkish] [cast|tint|tinge]^3|the skin looks pink|the tint is <too> far towards magenta|
        everyone looks pink|my camera added a pink cast""",
        wail="everything is pink|it's pink like bubblegum",
        goal="""so the skin doesn't look green|so nobody looks seasick|so the skin looks healthy|
        so the whites don't look green""",
    ),
    (ChangeKind.TINT, -1): side(
        does="""shift the tint towards green^2|push the tint towards green|take the [magenta|pink] [cast|
        tint|tinge] out^3|remove the [magenta|pink] [cast|tint|tinge|hue]^4|get rid of the [magenta|
        pink] [cast|tint|tinge]^3|neutralise the [magenta|pink] [cast|tint]|
        move the tint slider to green|add a green tint^3|add a [green|greenish] [tinge|tint]^2|
        cancel the pink tint|fix the [pink|magenta] tint|make <it> greenish in tint|
        correct the magenta cast|take some [pink|magenta] out|remove the pink filter|take the pink out^2|
        take out the magenta|cut the [magenta|pink]""",
        quantity="green tint^2|greenish tint",
        mass="green tint^2|green in the tint|green tinge",
        compared="less magenta^4|less pink^4|greener in tint|less rosy|less pinkish^2",
        state="green in tint|greenish in tint|sickly green",
        flaw="tinted green^2|off towards green|cast in green",
        remark="""there's <kind> green [cast|tint|tinge]^4|it has <kind> [green|greenish|
        sickly green] [cast|tint|tinge]^4|the fluorescent lights gave it a green cast|
        the skin has a green tint|the neon lights gave us a green tint|
        the tint is <too> far towards green""",
        wail="we all look like aliens with that green tint|the green cast is horrendous",
        goal="""so the skin doesn't look pink|so nobody looks sunburnt|so the whites don't look pink|
        so faces don't look so pink""",
    ),
    (ChangeKind.SHADOWS, 1): side(
        does="""lift the shadows^5|open up the shadows^4|brighten [up |]the [shadows|dark areas|
        dark parts|dark spots|darks|darker areas|shaded areas]^6|bring out the [detail|
        details] in the [shadows|dark areas|darks]^4|lighten the [shadows|dark areas|dark parts|
        darker areas]^5|fill in the shadows^2|raise the shadows^3|recover the shadows^2|
        bring up the [shadows|darks]^2|add fill light|reveal what's in the shadows|soften the shadows|
        lighten up the darker parts|boost the shadows|rescue the shadows|open the dark areas up|
        reduce the shadows^3|make the [shadows|dark areas|dark parts] <much> [brighter|lighter]^3|
        get more out of the shadows|lessen the shadows|remove the [harsh |]shadows|get rid of the [dark |
        ]shadows|eliminate the shadows|minimise the shadows""",
        quantity="""shadow detail^2|light in the shadows|fill light|brightness of the [shadows|
        dark areas]|shadow brightness|shadows slider""",
        mass="""detail in the shadows^4|light in the shadows^3|fill light^2|shadow detail|
        brightness in the dark areas^2|light in the dark parts""",
        compared="""brighter in the shadows^3|lighter in the dark areas^3|more open in the shadows|
        easier to see in the dark parts|less dark in the shadows|brighter in the darker areas""",
        remark="""the shadows are <too> [bright|light|grey|open|milky|weak]^3|
        the dark areas are <too> [bright|light|grey]|the darks look <too> milky|
        the shadows look washed out""",
        wail="there are no real shadows left",
        goal="""so the dark areas aren't just black|so I can see into the dark corners|
        so the details in the dark show|so I can see what's in the shadows""",
    ),
    (ChangeKind.SHADOWS, -1): side(
        does="""deepen the shadows^6|darken the shadows^5|make the shadows <much> [darker|deeper|
        blacker]^4|strengthen the shadows|bring down the shadows^2|pull down the shadows|
        lower the shadows^2|darken the [dark areas|dark parts|darks|darker areas]^3|drop the shadows|
        make the dark areas [darker|deeper]^2|intensify the shadows|emphasise the shadows""",
        quantity="depth of the shadows^2|darkness of the shadows|shadow depth|shadow intensity",
        mass="depth in the shadows^2|weight in the shadows|shadow^2|darkness in the shadows",
        compared="""darker in the shadows^3|deeper in the shadows^2|heavier in the shadows|
        darker in the dark areas""",
        state="dark in the shadows^2|black in the dark areas|murky in the shadows|shadowy",
        flaw="blocked up in the shadows|lost in the shadows",
        remark="""the shadows are <too> [dark|deep|heavy|strong|black|harsh]^5|
        the dark areas are <too> [dark|black]^2|I can't see [anything|any detail|what's] in the [shadows|
        dark parts|dark areas]|the shadows swallow [everything|the details|all the detail]|
        their faces are in [deep |]shadow|half of it is in shadow|the details get lost in the shadows|
        the shadows are [blocked|blocked up]|the faces are in the shade""",
        wail="""the shadows are pitch black|the shadows are just black holes|
        there's nothing but black in the shadows""",
        goal="""so the dark areas have some weight|so the shadows feel deep|
        so the shadows don't look washed out|so the shadows aren't grey""",
    ),
    (ChangeKind.HIGHLIGHTS, 1): side(
        does="""brighten the highlights^5|lift the highlights^3|raise the highlights^3|
        make the highlights <much> brighter^2|make the highlights [shine|glow|pop]|push the highlights|
        make the whites <much> whiter^2|make the whites <much> brighter|make the whites pop|
        brighten [up |]the [whites|bright areas|bright parts|light areas|lights]^4|boost the whites|
        bring up the highlights|make the bright areas <much> brighter|lift the whites|
        increase the highlights^4|boost the highlights^3|enhance the highlights|
        make the lights <much> lighter|whiten the whites|bump up the highlights""",
        quantity="highlights^4|brightness of the [highlights|whites]|highlight intensity|whites^2",
        mass="""sparkle in the highlights|light in the highlights|shine in the highlights|highlights^2|
        highlight""",
        compared="""brighter in the highlights^3|lighter in the bright areas|whiter in the highlights|
        brighter in the whites|brighter in the lights""",
        state="""bright in the highlights^2|hot in the highlights|white in the bright areas|
        blown in the bright parts""",
        flaw="blown out in the highlights|clipped in the highlights|burnt out in the bright parts",
        remark="""the highlights are <too> [bright|hot|strong|harsh|white|intense]^4|
        the highlights are blown[ out|]^2|the whites are <too> bright|
        the bright parts are <too> bright^2|the bright areas are burnt out|
        there's no detail in the [highlights|whites|bright parts]|the bright spots are <too> [harsh|
        bright]|the bright areas are <too> white|the lights in it are <too> bright""",
        wail="""the highlights are burnt to nothing|the bright parts are pure white|
        the highlights are totally gone""",
        goal="so the whites sparkle|so the lights shine|so the bright parts glow|so the highlights stand out",
    ),
    (ChangeKind.HIGHLIGHTS, -1): side(
        does="""recover the highlights^5|tone down the highlights^4|tame the highlights^2|pull [back|
        down] the highlights^3|darken the [highlights|bright areas|bright parts|whites|light areas]^5|
        reduce the highlights^5|bring down the [highlights|whites]^4|dim the highlights|
        save the highlights|lower the highlights^4|bring back the detail in the [highlights|whites|
        bright areas]^2|make the [whites|bright parts|highlights] <much> less bright^2|
        rescue the blown highlights|decrease the highlights^3|knock down the highlights|
        hold back the highlights|recover the blown-out areas|reduce the [glare|hot spots]|
        get rid of the hot spots|make the bright areas darker|soften the highlights|dull the highlights|
        turn the highlights down|calm the highlights""",
        compared="""darker in the highlights^2|less bright in the highlights^3|softer in the highlights|
        calmer in the bright areas|less bright in the whites""",
        state="dull in the highlights|grey in the whites",
        remark="""the highlights are <too> [dull|dark|grey|flat|weak]^3|the whites look grey^2|
        the whites are <too> [dull|dark|grey]^2|the bright parts are <too> [dull|dark]|
        the whites aren't white enough""",
        wail="there are no highlights at all",
        goal="""so the bright parts keep their detail|so the bright areas aren't blown out|
        so the highlights aren't burnt out|so there's detail in the whites|
        so the bright parts don't distract""",
    ),
    (ChangeKind.SHARPNESS, 1): side(
        done="sharpened^5|sharpened up|deblurred|focused|made sharper^2",
        does="""sharpen <it>^12|sharpen <it> up^2|sharpen up <thing>^2|crisp <it> up|make <it> sharp|
        sharpen the [details|edges|detail|focus|lines]^4|bring out the [details|texture|fine detail]^3|
        make the [details|edges] <much> [crisper|sharper|clearer]^3|make the details pop|deblur <it>|
        remove the blur|unblur <it>|fix the blur|reduce the blur^2|get rid of the blur[riness|]^2|
        make the details stand out^2|enhance the [details|detail|edges|sharpness]^3|define the [edges|
        details]^2|sharp <it>|focus <it>|tighten up the details|apply [a sharpening filter|
        an unsharp mask|sharpening]|bring <it> into focus|enhance the clarity|accentuate the details|
        make <it> <much> less blurry|clean up the blurriness|refine the details|clear up the blur""",
        quantity="""sharpness^9|clarity^3|detail^2|definition^2|crispness|acutance|image clarity|
        edge sharpness|detail level""",
        mass="""sharpness^5|detail^4|definition^2|clarity^3|crispness|texture|bite in the details|
        sharpening|edge definition|focus""",
        compared="""sharper^12|crisper^6|more detailed^3|more in focus^2|clearer in detail|less blurry^4|
        less soft^2|more defined^2|less fuzzy|more crisp^2|more sharp^2|more sharpened|tack sharp|
        more focused""",
        state="sharp^3|crunchy|harsh in the details|hard-edged|crispy",
        flaw="oversharpened^4|over-sharpened|over sharpened^2|overly crisp",
        remark="""the details are <too> [harsh|hard|sharp|crunchy|crisp]^3|the edges look <too> [hard|
        harsh|sharp]^2|it's been sharpened too much|there are halos from the sharpening|
        my phone oversharpened it|the sharpness is <too> high|every pore shows""",
        wail="it looks like sandpaper|the sharpening halos are everywhere|the edges could cut glass",
        goal="""so every [hair|leaf|detail|feather] shows|so [I|you] can [read the small print|
        see the texture]|so the details are clear|so it doesn't look [blurry|out of focus]|
        so it looks in focus|so the edges are clean|to bring out the texture|for better definition""",
    ),
    (ChangeKind.SHARPNESS, -1): side(
        done="softened^4|smoothed out|blurred^2|made softer",
        does="""soften <it>^8|make <it> soft|soften the [details|edges|lines|texture]^3|smooth <it> out|
        take the edge off the details|soften the focus^2|blur <it>^2|smooth out the details|
        make the [details|edges] <much> softer^3|smooth the texture|give <it> a soft focus|
        unsharpen <it>|make <it> <much> less crisp|desharpen <it>|soften up <thing>|
        tone down the sharpening|blur the whole thing|smooth <it>|undo the sharpening|
        take off some sharpening|add a soft focus[ effect| filter|]|add a blur to <it>""",
        quantity="softness^2|blur^2|smoothness|fuzziness",
        mass="softness^3|blur^2|soft focus^2|smoothness",
        compared="""softer^6|less sharp^5|smoother^3|blurrier^2|less crisp^2|less harsh in detail|
        softer in focus|less detailed^2|more blurry|less crunchy|fuzzier|softer in the details|
        less sharpened""",
        state="blurry^5|soft^4|fuzzy^3|out of focus^2|unsharp|smudgy|unclear|blurred^2",
        flaw="out of focus^3|unfocused|motion blurred|lacking sharpness|not in focus|slightly off focus",
        remark="""the focus [is off|missed|isn't right]^2|the details are <too> [soft|blurry|mushy|
        smudged|fuzzy]^3|I moved the camera|my hands were shaking|it's not sharp|nothing is really sharp|
        the autofocus missed|the details don't show|there's not enough [sharpness|detail|definition]^2|
        my hand shook|the lens was smudged|the edges look fuzzy""",
        wail="it's one big blur|I can't make out a single detail|nothing is in focus|it's all mush",
        goal="""so the skin looks smoother|so it feels gentle|so it isn't so harsh in the details|
        so every pore doesn't show|for a soft look|so the details don't distract|
        so the texture isn't so rough""",
    ),
}
"""Words for kinds whose sides need no colour name."""

MONOCHROME = side(
    done="""converted to black and white^3|made black and white|turned into greyscale|
    desaturated completely|changed to black and white""",
    does="""make <it> black and white^9|turn <it> [into black and white|black and white|into greyscale|
    greyscale|monochrome|b&w]^6|convert <it> to [black and white|greyscale|b&w|monochrome|bw]^6|
    desaturate <it> completely^3|remove all [the |]colour[s|]^4|take all the colour out^2|
    strip out all the colour|make <it> [b&w|greyscale|monochrome|bw]^4|take out all the colour|
    drop all the colour|change <it> to [black and white|greyscale]^3|do <it> in [black and white|
    monochrome]|render <it> in black and white|apply a black and white filter^2|put a b&w filter on <it>|
    fully desaturate <it>|get rid of all the colour|make <it> colourless|set the saturation to zero|
    lose the colour completely|remove the colour completely|make <it> an old-school black and white|
    black-and-white <it>|decolour <it>|turn off the colour""",
    compared="""black and white^9|b&w^3|greyscale^3|monochrome^4|black & white^2|completely colourless|
    totally desaturated|bw""",
    goal="""so it looks [timeless|like an old photo|classic]|like the old days|
    like an old newspaper photo|like an old film|for a classic look""",
)
