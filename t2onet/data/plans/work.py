"""The work on one pair, the same on any engine: a task in, an outcome out, both plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import DataError, T2OError
from ..digests import digest
from .keys import Key, Settings, pair_digest
from .record import Planned

if TYPE_CHECKING:
    from ...planning.pairs import Pair
    from ...planning.path import Path as Found
    from ...planning.path import Picture
    from ...planning.search import Order
    from ...recipe import Recipe

_DECIMALS = 6
"""Of a stored cost."""


@dataclass(frozen=True)
class Task:
    """A pair to plan."""

    name: str
    key: Key
    before: Path
    after: Path
    settings: Settings


@dataclass(frozen=True)
class Outcome:
    """The plan of a task, or why there is none."""

    task: Task
    planned: Planned | None
    problem: str = ""


Work = Callable[[Task], Outcome]


def plan_pair(task: Task) -> Outcome:
    """Whatever is wrong with one pair is told, so that the others go on."""
    try:
        if pair_digest(digest(task.before), digest(task.after)) != task.key.content:
            raise DataError("its photos are not those the run began with; plan the dataset again")
        return Outcome(task, _planned(task))
    except (T2OError, OSError) as error:
        return Outcome(task, None, str(error))
    except Exception as error:  # one odd pair must not end a run over a hundred thousand
        return Outcome(task, None, f"planning failed on it ({type(error).__name__}: {error})")


def _planned(task: Task) -> Planned:
    """Planned on area-averaged pictures; costs are those of the photos themselves."""
    from ...planning import L1
    from ...planning.pairs import paired
    from ...planning.path import Action, as_recipe, pictures
    from ...recipe import Recipe

    pair = paired(task.before, task.after)
    start, target = pair.at(task.settings.size)
    recipe = as_recipe(_path(task, start, target))
    cost = L1(target)
    path = [Action(step.operation, np.array(step.parameters)) for step in recipe.steps]
    costs = tuple(round(float(cost(picture)), _DECIMALS) for picture in pictures(path, start))
    return Planned(recipe, _difference(pair, Recipe()), _difference(pair, recipe), costs)


def _path(task: Task, start: Picture, target: Picture) -> Found:
    """Found jointly, or by a forward search that is not refined; its random choices follow from the pair."""
    from ...operations import operations
    from ...planning import L1, Search, plan_pictures
    from ...planning.solvers import solver

    settings = task.settings
    names = settings.operations or tuple(operations())
    if settings.way == "joint":
        return plan_pictures(start, target, settings.steps, names).path
    order: Order = "free" if settings.way == "beam" else settings.way
    seed = int(task.key.content[:8], 16)
    search = Search(L1(target), solver(settings.solver), names, steps=settings.steps, order=order, seed=seed)
    return search.run(start).path


def _difference(pair: Pair, recipe: Recipe) -> float:
    """Of the photos themselves, in one thread: the other cores have pairs of their own."""
    from ...executor import apply
    from ...planning.pairs import Pair
    from ...planning.planner import difference
    from ...recipe import Recipe

    edited = Pair(apply(recipe, pair.before, threads=1), pair.after)
    return round(difference(edited, Recipe()), _DECIMALS)


def warm() -> None:
    """Compile what planning needs, so that workers that start together find it in the cache."""
    from ...planning import plan_pictures

    rng = np.random.default_rng(0)
    picture = rng.random((3, 32, 32)).astype(np.float32)
    plan_pictures(picture, np.ascontiguousarray(picture**1.3 * np.float32(0.9)))
