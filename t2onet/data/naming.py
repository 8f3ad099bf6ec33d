"""Names that are unique in their dataset, from names that are only nearly so."""

from __future__ import annotations

from .entries import UnusableError


class Names:
    """Gives out each name once; "a", "a#2", "a#3" where several samples share one."""

    def __init__(self) -> None:
        self._given: dict[str, list[tuple[object, ...]]] = {}

    def unique(self, name: str, *facts: object) -> str:
        """A name for a sample; one that agrees with an earlier one in all `facts` is that one again."""
        earlier = self._given.setdefault(name, [])
        if facts in earlier:
            raise UnusableError("the same entry again", name=name)
        earlier.append(facts)
        return name if len(earlier) == 1 else f"{name}#{len(earlier)}"
