"""The expressions `followup` knows, as tables; in small letters, without apostrophes."""

from __future__ import annotations

import re

FILLERS = """
    the a an this that it its thats please pls plz now just then ok okay well hm hmm oh no nah yes yeah sorry
    thanks thank you u can could would should i id im think me my like want need needs make go get do did is
    was be am are looks look looking seems feels still even effect edit edits edited change changes result
    overall whole thing photo picture image pic one with of to as at by for so and but maybe kind sort there
    here also once time strength strong strongly only
"""
"""What says nothing about the way and the amount."""
ENDS = re.compile(r"[.,;!?\n]+(?=\s|$)|\s+-\s+|\b(?:and|but|then|also|plus)\b")
"""Between the parts of a sentence."""

_POLITE = r"(?:please |ok |okay |oh |no |nah |sorry |now |lets |can you |could you |just |actually )*"
_AFTER = r"(?: please| again| now)*"
_EDITS = r"(?:all )?(?:the |my |your |these )?(?:edits|changes|steps)"
_EVERYTHING = rf"(?:it all|all|everything|all of (?:it|that|them)|{_EDITS})"
_LAST = r"(?: it| that| this| the)*(?: last| previous)?(?: one| change| edit| step| bit| thing)*"
_AS_BEFORE = r"(?:(?:to )?(?:how|what|the way|as) it was(?: before)?|to (?:the )?(?:previous|last)(?: \w+)?)"

RESTART = re.compile(
    rf"{_POLITE}(?:start (?:over|again|afresh|anew|from scratch)|from scratch|reset(?: it)?"
    rf"|(?:reset|undo|revert|remove|clear|discard|drop|delete) {_EVERYTHING}"
    r"|(?:(?:go |revert |reset |take it |bring it )?back to |revert to |show |i want |give me |use )?"
    rf"(?:the )?(?:original|beginning|start)(?: photo| picture| image| one)?){_AFTER}"
)
UNDO = re.compile(
    rf"{_POLITE}(?:(?:undo|revert|cancel|never ?mind|forget|rollback|scrap){_LAST}(?: {_AS_BEFORE})?"
    rf"|(?:take|go|put|change|roll|get|step|bring){_LAST} (?:back(?: (?:one|a) step)?|{_AS_BEFORE}"
    rf"|back {_AS_BEFORE})){_AFTER}"
)
REDO = re.compile(rf"{_POLITE}redo(?: it| that| this)*{_AFTER}")

SAID = tuple(
    (re.compile(pattern), f" {word} ")
    for pattern, word in (
        (r"\b(?:not|isnt|wasnt|dont) (?:\w+ )?enough\b", "more"),
        (r"\btoo (?:little|weak|subtle|faint|small|timid)\b", "more"),
        (r"\b(?:barely|hardly) (?:visible|noticeable)\b", "more"),
        (
            r"\b(?:cant|cannot|hardly|barely|dont) (?:really )?(?:see|notice|tell)\b"
            r"(?:(?: any| a| the)* (?:difference|change))?",
            "more",
        ),
        (r"\btoo (?:much|strong|intense|heavy|extreme|far|obvious|big|harsh)\b", "less"),
        (r"\bover(?:done|did|do|board)\b", "less"),
        (r"\ba (?:bit|little) much\b", "bit less"),
        (
            r"\b(?:not|dont) (?:quite )?(?:so|that|as|too) (?:much|strong(?:ly)?|intense|heavy|far|hard)\b",
            "less",
        ),
        (
            r"\b(?:tone|turn|dial|bring|scale|pull|take|cut|knock|ease|hold) (?:it |that |this )?"
            r"(?:down|back|off)\b",
            "less",
        ),
        (
            r"\b(?:turn|crank|push|dial|bump|ramp|amp|pump|scale|step|bring) (?:it |that |this )?up\b"
            r"|\bkeep (?:going|on)\b",
            "more",
        ),
        (r"\bmore (?:subtle|subtly|gentle|gently|restrained)\b", "less"),
        (r"\bless (?:subtle|gentle|restrained)\b", "more"),
        (r"\b(more|less) (?:strong(?:ly)?|intense)\b", r"\1"),
        (r"\b(?:stronger|bolder|further|farther|again|harder|heavier)\b", "more"),
        (r"\b(?:increase|intensify|boost|push)\b", "more"),
        (r"\b(?:weaker|gentler|milder|subtler|fainter|decrease|reduce|lessen|weaken)\b", "less"),
    )
)
"""Ways to say more or less of what was done, in the order they are looked for."""

SHARES = tuple(
    (re.compile(rf"\b(?:{pattern})\b"), share)
    for pattern, share in (
        (r"two thirds(?: of)?", 2 / 3),
        (r"three quarters(?: of)?", 0.75),
        (r"half(?: of| as)?", 0.5),
        (r"(?:a |one )?third(?: of)?", 1 / 3),
        (r"(?:a |one )?quarter(?: of)?", 0.25),
        (r"twice(?: as)?|double|two times", 2.0),
        (r"triple|three times", 3.0),
    )
)
PERCENT = re.compile(r"\b(\d+(?:\.\d+)?) ?(?:%|percent\b)(?: of)?")

TAKEN_BACK = re.compile(rf"{_POLITE}(?:undo|take back|revert|cancel|forget) (?:the |that )?")
"""Begins a sentence that names what is to be taken back."""
PART_OF = re.compile(
    rf"{_POLITE}(?:only |make it )*(?:half|double|twice|two thirds|(?:a |one )?(?:third|quarter))\b"
)
"""Begins a sentence that names what there is to be a share of."""
PLAINER = tuple(
    (re.compile(pattern), plainer)
    for pattern, plainer in (
        (r"\b(?:not|isnt|dont make it|no longer) (?:quite )?(?:so|that|as|too) (?=\w)", "less "),
        (r"\btoo much (?=\w)", "less "),
        (r"\b(?:still|even|again|now|further|yet)\b", ""),
        (r"\bbring back\b", "add"),
        (r"\bwarming\b", "warmth"),
        (r"\bcooling\b", "coolness"),
    )
)
"""How follow-ups say what the reader of requests knows in other words."""
ABSOLUTE = re.compile(
    r"\bblack (?:and|&|n) white\b|\bb ?& ?w\b|\bbw\b|\bgr[ae]yscale\b|\bmonochrome\b|\bsepia\b|\bno colou?r\b"
    r"|\ball (?:the |of the )?colou?rs?\b|\bdesaturate\b"
)
"""What is wanted as such, however much of it there is already."""
