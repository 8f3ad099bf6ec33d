"""`t2o data plan`: a dataset -> a folder of plans, a summary and a sheet; or what stands in the way."""

from __future__ import annotations

import inspect
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from t2onet.cli.common import Ticker
from t2onet.cli.data import PLANS_SHEET, plan_pairs
from t2onet.data import Dataset, Problem
from t2onet.data.packed import read_packed
from t2onet.data.plans import DatasetPlans, LocalEngine, PlanSettings, RayEngine
from tests.cli.helpers import T2O, contents, environment, pixels
from tests.conftest import PATIENCE
from tests.data.small_set import SIDE, InThisProcess, open_small_set, small_set

PAIRS = 3
SIZE = ("--size", str(SIDE))


@pytest.fixture
def photos(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small dataset, `photos`, planned without processes."""
    small_set(folder / "photos", PAIRS)
    monkeypatch.setattr("t2onet.data.open_dataset", open_small_set, raising=False)
    monkeypatch.setattr("t2onet.cli.data._make_engine", lambda *_: InThisProcess())
    return folder


@pytest.mark.slow
def test_plans_a_summary_and_a_sheet(t2o: T2O, photos: Path) -> None:
    answer = t2o("data", "plan", "photos", "-o", "plans", *SIZE)
    assert (answer.code, answer.err) == (0, "")
    samples = open_small_set(photos / "photos").samples
    plans = DatasetPlans("plans", samples, PlanSettings(SIDE))
    assert len(plans) == PAIRS
    mean = sum(planned.cost for planned in plans.values()) / PAIRS
    rows = [line.split() for line in answer.out.splitlines()]
    assert rows[1][-1] == f"{mean:.4f}"
    assert rows[3][-2:] == ["0.1202", "0.0136"]
    assert f"{PAIRS} pairs planned now" in answer.out
    assert all(name in answer.out for name in ("steps", "operation", "tone"))
    assert pixels(Path("plans") / PLANS_SHEET).shape[0] > PAIRS * 250


def test_a_set_of_operations_is_planned_and_packed(t2o: T2O, photos: Path) -> None:
    chosen = ("--operations", "tone, brightness", "--way", "epsilon-greedy", "--steps", "1")
    assert t2o("data", "plan", "photos", "-o", "plans", *SIZE, *chosen).code == 0
    made = (f"--plan{option[1:]}" if option.startswith("--") else option for option in (*SIZE, *chosen))
    answer = t2o("data", "pack", "photos", "--plans", "plans", *made, "-o", "packed")
    assert (answer.code, f"({PAIRS} with a plan)" in answer.out) == (0, True)
    plans = [sample.plan["steps"] for sample in read_packed("packed").samples if sample.plan]
    assert {step["operation"] for steps in plans for step in steps} <= {"tone", "brightness"}
    assert max(map(len, plans)) == 1


@pytest.mark.slow
def test_plans_by_another_solver_are_kept_apart(t2o: T2O, photos: Path) -> None:
    pytest.importorskip("scipy", reason="an extra")
    chosen = ("--operations", "brightness,sharpness", "--way", "beam", "--steps", "2")
    plan = ("data", "plan", "photos", "-o", "plans", *SIZE, *chosen)
    new = [
        json.loads(t2o(*plan, *solver, "--json").out)["new"]
        for solver in ((), ("--solver", "nelder-mead"), ("--solver", "fast"), ("--solver", "nelder-mead"))
    ]
    assert new == [PAIRS, PAIRS, 0, 0]
    made = [f"--plan{option[1:]}" if option.startswith("--") else option for option in (*SIZE, *chosen)]
    pack = ("data", "pack", "photos", "--plans", "plans", *made)
    t2o(*pack, "-o", "fast")
    t2o(*pack, "--plan-solver", "nelder-mead", "-o", "simplex")
    fast, simplex = ([one.plan for one in read_packed(name).samples] for name in ("fast", "simplex"))
    assert None not in (*fast, *simplex)
    assert fast != simplex
    answer = t2o(*pack, "--plan-solver", "adam", "-o", "none")
    assert (answer.code, "solver adam" in answer.err, "--plan-solver" in answer.err) == (2, True, True)


def test_the_joint_way_has_no_solver(t2o: T2O, photos: Path) -> None:
    answer = t2o("data", "plan", "photos", "-o", "plans", *SIZE, "--solver", "nelder-mead")
    assert answer.code == 2
    assert "'nelder-mead' is for a forward search; choose the way beam, fixed or epsilon-greedy" in answer.err
    unknown = t2o("data", "plan", "photos", "-o", "plans", *SIZE, "--way", "beam", "--solver", "nelder-mad")
    assert (unknown.code, "did you mean 'nelder-mead'?" in unknown.err) == (2, True)


@pytest.mark.slow
def test_a_second_run_has_nothing_to_do(t2o: T2O, photos: Path) -> None:
    first = json.loads(t2o("data", "plan", "photos", "-o", "plans", *SIZE, "--json").out)
    before = contents(photos / "plans")
    second = json.loads(t2o("data", "plan", "photos", "-o", "plans", *SIZE, "--json").out)
    assert (first["new"], second["new"]) == (PAIRS, 0)
    assert {**first, "new": 0, "pairs_a_second": 0} == second
    assert contents(photos / "plans") == before


@pytest.mark.slow
def test_one_split(t2o: T2O, photos: Path) -> None:
    data = json.loads(t2o("data", "plan", "photos", "-o", "plans", "--split", "train", *SIZE, "--json").out)
    assert data["pairs"] == sum(sample.split == "train" for sample in open_small_set(Path("photos")).samples)


@pytest.mark.slow
def test_broken_pairs_are_told_by_name(t2o: T2O, photos: Path) -> None:
    Path("photos/001-after.png").write_bytes(b"no photo")
    answer = t2o("data", "plan", "photos", "-o", "plans", *SIZE)
    assert answer.code == 0
    assert answer.err.startswith("not planned: pair-001: ")
    assert "001-after.png" in answer.err
    first, last = answer.out.splitlines()[-2].split(", ")
    assert first == f"{PAIRS - 1} pairs planned now"
    assert last.endswith(" a second; 1 pair could not be planned")


@pytest.mark.slow
def test_what_was_left_out_is_told_with_its_details(
    t2o: T2O, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems = [Problem(f"before/{n}", "several photos of one name", f"{n}.jpg is used") for n in range(7)]
    problems.append(Problem("requests.csv", "no header"))

    def with_problems(*given: object, **more: object) -> Dataset:
        return replace(open_small_set(*given, **more), problems=tuple(problems))

    monkeypatch.setattr("t2onet.data.open_dataset", with_problems)
    refused = t2o("data", "plan", "photos", "-o", "look.json", *SIZE)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    named = ", ".join(f"before/{n} ({n}.jpg is used)" for n in range(5))
    assert t2o("data", "plan", "photos", "-o", "plans", *SIZE).err == (
        f"left out: {named} and 2 more: several photos of one name\nleft out: requests.csv: no header\n"
    )


@pytest.mark.slow
def test_without_a_terminal_a_line_now_and_then(
    t2o: T2O, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("t2onet.cli.common.TICK_SECONDS", 0.0)
    lines = t2o("data", "plan", "photos", "-o", "plans", *SIZE).err.splitlines()
    assert [line.rpartition(",")[0] for line in lines] == [
        f"samples, {n} of {PAIRS}" for n in range(1, PAIRS + 1)
    ]
    assert all(line.endswith(" pairs a second") for line in lines)


@pytest.mark.slow
def test_damage_is_told_and_mended(t2o: T2O, photos: Path) -> None:
    t2o("data", "plan", "photos", "-o", "plans", *SIZE)
    segment = Path("plans/plans-000001.jsonl")
    segment.write_bytes(segment.read_bytes()[:-5])
    answer = t2o("data", "plan", "photos", "-o", "plans", *SIZE)
    assert answer.err.startswith("damaged: plans-000001.jsonl:3: ")
    assert "\n1 pair planned now, " in answer.out
    assert f"; {PAIRS - 1} pairs were there already\n" in answer.out
    assert t2o("data", "plan", "photos", "-o", "plans", *SIZE).err == ""


def test_refusals(t2o: T2O, photos: Path) -> None:
    assert t2o("data", "plan", "photos", "-o", "look.json") == (
        2,
        "",
        "t2o: look.json cannot be a folder of plans (File exists); give the name of a folder\n",
    )
    assert t2o("data", "plan", "photos", "-o", "plans", "--size", "8").code == 2
    before = contents(photos)
    assert t2o("data", "plan", "photos", "-o", "photos", *SIZE) == (
        2,
        "",
        "t2o: photos has other files than plans in it; give a new or an empty folder\n",
    )
    assert contents(photos) == before
    assert not Path("plans").exists()


def test_progress_is_told_twice_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    now = 100.0
    ticker = Ticker(lambda: now)
    for second in range(0, 100, 5):
        now = 100.0 + second
        ticker.tell(f"after {ticker.elapsed_seconds:g}")
    assert capsys.readouterr().err.splitlines() == ["after 30", "after 60", "after 90"]


def test_engines_are_chosen_by_name() -> None:
    from t2onet.cli.data import _make_engine

    assert _make_engine("local", 3, None) == LocalEngine(3)
    assert _make_engine("ray", 2, "auto") == RayEngine("auto", 2)


def test_an_unknown_engine_is_refused(t2o: T2O, folder: Path) -> None:
    assert t2o("data", "plan", "photos", "-o", "plans", "--engine", "abacus") == (
        2,
        "",
        "t2o: there is no engine 'abacus'; there are local and ray\n",
    )


def test_defaults_are_those_of_python() -> None:
    defaults = inspect.signature(plan_pairs).parameters
    assert PlanSettings(**{name: defaults[name].default for name in vars(PlanSettings())}) == PlanSettings()


COMMAND = """
import sys
import t2onet.data
from tests.data.small_set import open_small_set
t2onet.data.open_dataset = open_small_set
from t2onet.cli import main
sys.argv[0] = "t2o"
"""
HELD = """
import signal
from t2onet.data.plans import LocalEngine

run = LocalEngine.run

def held(self, tasks):
    for outcome in run(self, tasks):
        yield outcome
        signal.pause()

LocalEngine.run = held
"""
"""After a plan the command waits to be stopped, so that it is never done before that."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
def test_ctrl_c_keeps_what_is_planned(folder: Path) -> None:
    count = 8
    small_set(folder / "photos", count)
    arguments = ["data", "plan", "photos", "-o", "plans", "--workers", "1", *SIZE]
    running = subprocess.Popen(
        [sys.executable, "-c", f"{COMMAND}{HELD}main()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        # A shell that starts the tests in the background has them ignore SIGINT, and a child inherits that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    segment = folder / "plans" / "plans-000001.jsonl"
    end = time.monotonic() + PATIENCE
    while not segment.exists() or not segment.stat().st_size:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < end
        time.sleep(0.001)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    kept = segment.read_bytes().count(b"\n")
    assert 0 < kept < count
    left = f"t2o: stopped, {count - kept} of {count} samples to go; the same command continues there\n"
    assert (running.returncode, out, err) == (130, "", left)
    rest = subprocess.run(
        [sys.executable, "-c", f"{COMMAND}main()", *arguments, "--json"],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    assert json.loads(rest.stdout)["new"] == count - kept
