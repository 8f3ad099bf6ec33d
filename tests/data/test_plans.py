"""Plans of a dataset: what they depend on, that each is made once, and that the disk may lie."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import t2onet
from t2onet import PlanError, Recipe
from t2onet.data import Dataset
from t2onet.data.plans import (
    DatasetPlans,
    Engine,
    LocalEngine,
    PlanSettings,
    PlanTotals,
    RayEngine,
    StoredPlan,
    plan_dataset,
)
from t2onet.data.plans.store import (
    PlanKeyBuilder,
    PlanStore,
    fingerprint_settings,
    record_from_line,
    record_to_line,
)
from t2onet.errors import DataError, RecipeError
from t2onet.operations import _registry
from tests.data.small_set import SIDE, InThisProcess, small_set

PAIRS = 4


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return small_set(tmp_path / "photos", PAIRS)


def make_plan(number: int = 0) -> StoredPlan:
    recipe = Recipe.from_steps([("brightness", round(0.001 * number, 5)), ("tone", [1, 2, 1, 1, 1, 1, 1, 1])])
    return StoredPlan(recipe, 0.125, 0.0625, (0.125, 0.1, 0.0625))


def key(number: int) -> str:
    return f"{number:032x}"


# ---- what planning came to


@pytest.mark.parametrize(
    ("costs", "worst", "best"),
    [
        ([5], [], [5]),
        ([5, 6], [6], [5]),
        ([7, 5, 6], [7], [5, 6]),
        (range(1, 10), [9, 8, 7, 6], [1, 2, 3, 4]),
    ],
)
def test_a_plan_is_among_the_best_or_the_worst(
    dataset: Dataset, costs: Iterable[int], worst: list[int], best: list[int]
) -> None:
    tally = PlanTotals()
    for cost in costs:
        tally.add(dataset.samples[0], replace(make_plan(), cost=cost))
    assert [shown.cost for shown in tally.worst] == worst
    assert [-shown.cost for shown in tally.best] == best


def test_a_plan_without_steps_is_never_among_the_best(dataset: Dataset) -> None:
    tally = PlanTotals()
    tally.add(dataset.samples[0], replace(make_plan(), recipe=Recipe()))
    assert (len(tally.worst), tally.best) == (1, [])


def test_operations_that_are_used_as_often_stand_in_the_order_of_names(dataset: Dataset) -> None:
    tally = PlanTotals()
    for steps in ([("tone", [1.0] * 8)], [("brightness", 0.1), ("contrast", 0.1)], [("contrast", 0.1)]):
        tally.add(dataset.samples[0], replace(make_plan(), recipe=Recipe.from_steps(steps)))
    assert tally.operations_by_count == [("contrast", 2), ("brightness", 1), ("tone", 1)]


# ---- what a plan depends on


def test_a_key_follows_the_content_and_not_the_name(dataset: Dataset, tmp_path: Path) -> None:
    keys, sample = PlanKeyBuilder(PlanSettings()), dataset.samples[0]
    moved = replace(sample, name="other", before=tmp_path / "a.png", after=tmp_path / "b.png")
    shutil.copy(sample.before, moved.before)
    shutil.copy(sample.after, moved.after)
    assert keys.build(moved) == keys.build(sample)
    moved.after.write_bytes(moved.after.read_bytes() + b"\0")
    assert PlanKeyBuilder(PlanSettings()).build(moved) != keys.build(sample)
    turned = replace(sample, before=sample.after, after=sample.before)
    assert keys.build(turned) != keys.build(sample)


def test_a_key_follows_the_settings() -> None:
    others = {fingerprint_settings(PlanSettings(size, steps)) for size in (64, 128) for steps in (3, 6)}
    assert len(others) == 4
    one, few = ("tone",), ("tone", "color")
    more = {
        fingerprint_settings(PlanSettings(64, 3, names, way))
        for names in (one, few)
        for way in ("joint", "fixed")
    }
    assert len(others | more) == 8


def test_keys_of_stored_plans_stay_valid() -> None:
    assert fingerprint_settings(PlanSettings()) == "a39e9f59b34d19acafe9d1b730b9d656"
    assert fingerprint_settings(PlanSettings(64, 3, ("tone",))) == "835878c424c3245187c671cf532fd086"


def test_a_key_does_not_follow_operations_that_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint_settings(PlanSettings())
    registry = dict(_registry._OPERATIONS)
    registry["punch"] = replace(registry["contrast"], name="punch")
    monkeypatch.setattr(_registry, "_OPERATIONS", registry)
    assert fingerprint_settings(PlanSettings()) == before
    assert fingerprint_settings(PlanSettings(operations=("punch", "tone"))) != before


@pytest.mark.parametrize("change", ["another formula", "another range"])
def test_a_key_follows_the_operations(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = dict(_registry._OPERATIONS)
    contrast = registry["contrast"]
    if change == "another formula":
        registry["contrast"] = replace(contrast, formula=lambda image, p, frame: image * (1 + 0.5 * p[0]))
    else:
        first, *others = contrast.parameters
        registry["contrast"] = replace(contrast, parameters=(replace(first, high=2.0), *others))
    before = fingerprint_settings(PlanSettings())
    monkeypatch.setattr(_registry, "_OPERATIONS", registry)
    assert fingerprint_settings(PlanSettings()) != before


@pytest.mark.parametrize(("size", "steps"), [(8, 6), (128, 0)])
def test_settings_that_make_no_plan(size: int, steps: int) -> None:
    with pytest.raises(PlanError, match="at least"):
        PlanSettings(size, steps)


def test_operations_and_ways_that_make_no_plan() -> None:
    with pytest.raises(PlanError, match="name at least one"):
        PlanSettings(operations=())
    with pytest.raises(RecipeError, match="did you mean 'tone'"):
        PlanSettings(operations=("tones",))
    with pytest.raises(PlanError, match="there is no way 'best' to plan"):
        PlanSettings(way="best")  # type: ignore[arg-type]


# ---- the disk


def test_a_record_comes_back() -> None:
    data = record_from_line(record_to_line(key(7), make_plan(7)))
    assert data is not None
    assert (data["key"], StoredPlan.from_data(data)) == (key(7), make_plan(7))


def fill_store(folder: Path, count: int) -> Path:
    """The only segment of a store with that many plans."""
    store = PlanStore.open_for_writing(folder)
    for number in range(count):
        store.add(key(number), make_plan(number))
    store.close()
    (segment,) = folder.glob("*.jsonl")
    return segment


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return fill_store(tmp_path_factory.mktemp("store"), 4).read_bytes()


@given(data=st.data())
def test_no_damage_of_a_byte_gives_a_wrong_plan(
    data: st.DataObject, whole: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    folder = tmp_path_factory.mktemp("store")
    (folder / "plans-000001.jsonl").write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
    store = PlanStore(folder)
    kept = [number for number in range(4) if key(number) in store]
    assert len(kept) >= (3 if whole[at] != ord("\n") else 2)
    assert all(store[key(number)] == make_plan(number) for number in kept)
    assert len(store.damage) <= (1 if byte != ord("\n") else 2)
    assert bool(store.damage) == (len(kept) < 4)


@given(data=st.data())
def test_a_file_cut_anywhere_loses_only_what_was_cut(
    data: st.DataObject, whole: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    end = data.draw(st.integers(0, len(whole)))
    folder = tmp_path_factory.mktemp("store")
    (folder / "plans-000001.jsonl").write_bytes(whole[:end])
    store = PlanStore(folder)
    assert len(store) == whole[:end].count(b"\n")
    torn = bool(whole[:end]) and not whole[:end].endswith(b"\n")
    assert [problem.name for problem in store.damage] == [f"plans-000001.jsonl:{len(store) + 1}"] * torn


def test_damage_is_told_once_and_then_gone(tmp_path: Path) -> None:
    segment = fill_store(tmp_path, 3)
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(lines[0] + lines[1].replace(b"brightness", b"brighTness") + lines[2])
    again = PlanStore.open_for_writing(tmp_path)
    assert [problem.name for problem in again.damage] == ["plans-000001.jsonl:2"]
    assert [number for number in range(3) if key(number) in again] == [0, 2]
    assert segment.read_bytes() == lines[0] + lines[2]
    assert PlanStore.open_for_writing(tmp_path).damage == []


def test_two_writers_share_a_folder(tmp_path: Path) -> None:
    stores = [PlanStore.open_for_writing(tmp_path), PlanStore.open_for_writing(tmp_path)]
    for number in range(6):
        stores[number % 2].add(key(number), make_plan(number))
    # The second is alive, so a line that it has begun is not damage, and its file is not repaired.
    assert stores[1]._file is not None
    stores[1]._file.write(b"0000")
    third = PlanStore.open_for_writing(tmp_path)
    assert (len(third), third.damage) == (6, [])
    stores[1]._file.write(b" half a record")
    for store in stores:
        store.close()
    assert [problem.name for problem in PlanStore(tmp_path).damage] == ["plans-000002.jsonl:4"]
    assert all(PlanStore(tmp_path)[key(number)] == make_plan(number) for number in range(6))


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "plans").write_text("mine")
    with pytest.raises(t2onet.OutputError, match="plans cannot be a folder of plans"):
        PlanStore.open_for_writing(tmp_path / "plans")


# ---- a whole dataset


@pytest.mark.slow
def test_every_pair_is_planned_once(dataset: Dataset, tmp_path: Path) -> None:
    twice = replace(
        dataset, samples=(*dataset.samples, *(replace(s, name=f"{s.name}-again") for s in dataset.samples))
    )
    engine, seen = InThisProcess(), []
    tally = plan_dataset(
        twice,
        tmp_path / "plans",
        engine=engine,
        settings=PlanSettings(SIDE),
        progress=lambda n, _: seen.append(n),
    )
    assert engine.given == [sample.name for sample in dataset.samples]
    assert (tally.pairs, tally.new, tally.problems) == (PAIRS, PAIRS, [])
    assert seen == list(range(1, 2 * PAIRS + 1))
    again = InThisProcess()
    second = plan_dataset(twice, tmp_path / "plans", engine=again, settings=PlanSettings(SIDE))
    assert (again.given, second.new, second.pairs) == ([], 0, PAIRS)
    assert (second.cost, second.lengths) == (tally.cost, tally.lengths)


@pytest.mark.slow
def test_plans_are_those_of_the_planner(dataset: Dataset, tmp_path: Path) -> None:
    tally = plan_dataset(dataset, tmp_path / "plans", engine=InThisProcess(), settings=PlanSettings(SIDE))
    plans = DatasetPlans(tmp_path / "plans", dataset.samples, PlanSettings(SIDE))
    assert list(plans) == list(dataset.samples)
    for sample, found in plans.items():
        before, after = sample.open_photos()
        edited = np.asarray(t2onet.apply(found.recipe, before), float) / 255
        assert found.cost == pytest.approx(np.abs(edited - np.asarray(after, float) / 255).mean(), abs=1e-5)
        assert found.cost < 0.35 * found.start_cost
        assert len(found.costs) == len(found.recipe) + 1
    assert tally.cost == pytest.approx(np.mean([found.cost for found in plans.values()]))
    assert tally.start_cost == pytest.approx(np.mean([found.start_cost for found in plans.values()]))
    costs = sorted(p.cost for p in plans.values())
    assert [shown.cost for shown in tally.worst] == costs[: PAIRS // 2 - 1 : -1]
    assert [-shown.cost for shown in tally.best] == costs[: PAIRS // 2]
    assert sum(tally.lengths.values()) == PAIRS
    assert not DatasetPlans(tmp_path / "plans", dataset.samples, PlanSettings(SIDE, 2))


def test_plans_keep_to_the_operations_and_the_way_they_were_asked_for(
    dataset: Dataset, tmp_path: Path
) -> None:
    """The paper's sets share a folder; a fixed order is kept, and a single operation stays alone."""
    fixed = PlanSettings(SIDE, operations=("contrast", "brightness", "tone"), way="fixed")
    for settings in (PlanSettings(SIDE, operations=("brightness",)), fixed):
        plan_dataset(dataset, tmp_path / "plans", engine=InThisProcess(), settings=settings)
        for found in DatasetPlans(tmp_path / "plans", dataset.samples, settings).values():
            used = [step.operation for step in found.recipe.steps]
            assert set(used) <= set(settings.operations or ())
            assert used == [name for name in ("brightness", "contrast", "tone") if name in used]
            assert found.cost <= found.start_cost
    assert not DatasetPlans(tmp_path / "plans", dataset.samples, PlanSettings(SIDE))


def test_a_broken_pair_is_told_and_the_others_go_on(dataset: Dataset, tmp_path: Path) -> None:
    first, second, third, last = dataset.samples
    first.after.write_bytes(first.after.read_bytes()[:300])
    second.after.unlink()
    third.after.write_bytes(last.before.read_bytes())  # a photo of something else
    twin = replace(first, name="twin")
    broken = replace(dataset, samples=(first, second, third, last, twin))
    tally = plan_dataset(broken, tmp_path / "plans", engine=InThisProcess(), settings=PlanSettings(SIDE))
    assert tally.new == tally.pairs == 1
    told = {problem.name: problem.reason for problem in tally.problems}
    assert list(told) == [first.name, second.name, third.name, "twin"]
    assert str(first.after) in told[first.name]
    assert told["twin"] == told[first.name]
    assert str(second.after) in told[second.name]
    assert "do not show the same scene" in told[third.name]


@pytest.mark.slow
def test_photos_that_change_under_way(dataset: Dataset, tmp_path: Path) -> None:
    class Late(InThisProcess):
        def run(self, tasks: object) -> Iterator[object]:
            waiting = list(tasks)  # type: ignore[call-overload]
            dataset.samples[0].after.write_bytes(dataset.samples[1].after.read_bytes())
            yield from super().run(waiting)

    tally = plan_dataset(dataset, tmp_path / "plans", engine=Late(), settings=PlanSettings(SIDE))
    assert [problem.name for problem in tally.problems] == [dataset.samples[0].name]
    assert "not those the run began with" in tally.problems[0].reason


@pytest.mark.slow
def test_damage_is_planned_again(dataset: Dataset, tmp_path: Path) -> None:
    first = plan_dataset(dataset, tmp_path / "plans", engine=InThisProcess(), settings=PlanSettings(SIDE))
    (segment,) = (tmp_path / "plans").glob("*.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:2]) + lines[2][:40] + b"\n" + lines[3][:-20])
    engine = InThisProcess()
    again = plan_dataset(dataset, tmp_path / "plans", engine=engine, settings=PlanSettings(SIDE))
    assert engine.given == [sample.name for sample in dataset.samples[2:]]
    assert [problem.name for problem in again.damage] == ["plans-000001.jsonl:3", "plans-000001.jsonl:4"]
    assert again.cost == pytest.approx(first.cost)


def test_plans_that_are_not_there(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no folder .*nowhere"):
        DatasetPlans(tmp_path / "nowhere", dataset.samples)


# ---- engines


@pytest.mark.parametrize("engine", [LocalEngine(), RayEngine()])
def test_nothing_to_do_starts_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("t2onet.data.plans.engines._WorkerPool", None)
    monkeypatch.setitem(sys.modules, "ray", None)
    assert list(engine.run([])) == []


def test_ray_that_is_not_installed(dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(DataError, match=r"pip install 't2onet\[cluster\]'"):
        plan_dataset(dataset, tmp_path / "plans", engine=RayEngine())


@pytest.mark.parametrize("set_before", [None, "1"])
def test_ray_reports_nothing_to_its_makers(
    set_before: str | None, dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks the environment when a program connects, and reports by default."""
    seen = []

    def connect(*_: object, **__: object) -> None:
        seen.append(os.environ.get("RAY_USAGE_STATS_ENABLED"))
        raise ConnectionError("no one there")

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", set_before or "")
    if set_before is None:
        monkeypatch.delenv("RAY_USAGE_STATS_ENABLED")
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False, init=connect))
    with pytest.raises(DataError, match=r"no Ray cluster at auto \(no one there\)"):
        plan_dataset(dataset, tmp_path / "plans", engine=RayEngine("auto"))
    assert seen == ["0"]
