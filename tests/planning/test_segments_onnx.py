"""A segmenter from an ONNX file: real graphs, run by a real ONNX Runtime."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from t2onet.errors import PlanError
from t2onet.planning import plan_local, segments
from t2onet.planning.segments import Region, intersection_over_union
from tests.planning.networks import FLOAT, REDDER, TensorProto, write_network

ROWS, COLUMNS = np.mgrid[:64, :96]
LEFT = (ROWS - 32) ** 2 + (COLUMNS - 24) ** 2 < 15**2
RIGHT = (ROWS - 32) ** 2 + (COLUMNS - 72) ** 2 < 15**2


def discs() -> np.ndarray:
    """(3, 64, 96): two red discs on blue."""
    picture = np.empty((3, 64, 96), np.float32)
    picture[:] = np.array([0.1, 0.2, 0.8], np.float32)[:, None, None]
    picture[:, LEFT | RIGHT] = np.array([0.9, 0.2, 0.1], np.float32)[:, None]
    return picture


def best(found: list[Region], wanted: Region) -> float:
    """How well one of the masks, of whatever size, meets the wanted one."""
    return max(
        intersection_over_union(segments.resize_region(region, *wanted.shape), wanted) for region in found
    )


SCORES = {
    "scores": (),
    "shares of classes": (("Softmax", {"axis": 1}),),
    "masks": (("Sigmoid", {}),),
}


@pytest.mark.parametrize("nodes", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("shape", [(1, 3, "h", "w"), (1, 3, 48, 48), ("n", 3, 32, "w")])
def test_things_are_found(tmp_path: Path, nodes: tuple, shape: tuple) -> None:  # type: ignore[type-arg]
    path = write_network(tmp_path / "net.onnx", *nodes, shape=shape, weights=REDDER)
    found = list(segments.OnnxSegmenter(path, "unit")(discs()))
    assert best(found, LEFT | RIGHT) > 0.85
    assert best(found, ~(LEFT | RIGHT)) > 0.85
    assert all(region.dtype == bool and region.ndim == 2 for region in found)


def test_classes_come_in_connected_parts_and_masks_do_not(tmp_path: Path) -> None:
    scores = write_network(tmp_path / "scores.onnx", weights=REDDER)
    masks = write_network(tmp_path / "masks.onnx", ("Sigmoid", {}), weights=REDDER)
    assert best(list(segments.OnnxSegmenter(scores, "unit")(discs())), LEFT) > 0.9
    assert best(list(segments.OnnxSegmenter(masks, "unit")(discs())), LEFT) < 0.6


def test_labels_are_classes(tmp_path: Path) -> None:
    nodes = ("ArgMax", {"axis": 1, "keepdims": 0})
    path = write_network(tmp_path / "labels.onnx", nodes, answers=TensorProto.INT64, weights=REDDER)
    found = list(segments.OnnxSegmenter(path)(discs()))
    assert best(found, RIGHT) > 0.9
    assert best(found, ~(LEFT | RIGHT)) > 0.9


def test_masks_may_be_booleans_and_without_a_batch(tmp_path: Path) -> None:
    # Whatever is not zero is true; the floor of the red channel's double is 1 in the discs alone.
    nodes = (("Floor", {}), ("Squeeze", {}), ("Cast", {"to": TensorProto.BOOL}))
    two = np.array([[1.5, 0, 0], [0, 0, 1.5]], np.float32)
    path = write_network(tmp_path / "net.onnx", *nodes, answers=TensorProto.BOOL, weights=two)
    found = list(segments.OnnxSegmenter(path, "unit")(discs()))
    assert len(found) == 2
    assert best(found, LEFT | RIGHT) > 0.9


def test_what_the_network_sees_is_normalised_as_asked(tmp_path: Path) -> None:
    path = write_network(tmp_path / "mean.onnx", ("GlobalAveragePool", {}))
    grey = np.full((3, 40, 60), 0.5, np.float32)
    seen = {}
    for way in ("unit", "imagenet"):
        segmenter = segments.OnnxSegmenter(path, way)  # type: ignore[arg-type]
        seen[way] = segmenter._run(segmenter._prepare(grey)).reshape(-1)
    assert seen["unit"] == pytest.approx([0.5] * 3, abs=1e-5)
    assert seen["imagenet"] == pytest.approx(
        [(0.5 - 0.485) / 0.229, (0.5 - 0.456) / 0.224, (0.5 - 0.406) / 0.225], abs=1e-3
    )


def test_where_any_size_will_do_sides_are_multiples_of_32(tmp_path: Path) -> None:
    path = write_network(tmp_path / "size.onnx", ("Shape", {}), answers=TensorProto.INT64)
    segmenter = segments.OnnxSegmenter(path)
    batch = segmenter._prepare(np.zeros((3, 300, 401), np.float32))
    assert batch.shape == (1, 3, 512, 672)


def test_a_plan_uses_what_the_network_found(tmp_path: Path) -> None:
    path = write_network(tmp_path / "net.onnx", weights=REDDER)
    grain = np.random.default_rng(0).normal(0, 0.03, (64, 96, 3))
    before = np.clip(discs().transpose(1, 2, 0) * 0.6 + grain, 0, 1)
    after = np.where(LEFT[..., None], np.clip(1.3 * before, 0, 1), before)
    pair = [np.round(255 * p).astype(np.uint8) for p in (before, after)]
    plan = plan_local(*pair, masks=segments.OnnxSegmenter(path, "unit"))
    assert [step.operation for step in plan.recipe.steps] == ["brightness"]
    assert plan.regions[0] is not None
    assert best([plan.regions[0]], LEFT) > 0.8


WRONG = {
    "two pictures": {"shape": (2, 3, 8, 8)},
    "one channel": {"shape": (1, 1, 8, 8)},
    "no batch": {"shape": (3, 8, 8)},
    "whole numbers": {"shape": (1, 3, 8, 8), "kind": TensorProto.UINT8, "answers": TensorProto.UINT8},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_other_inputs_are_refused(tmp_path: Path, wrong: dict) -> None:  # type: ignore[type-arg]
    path = write_network(tmp_path / "net.onnx", ("Identity", {}), **wrong)
    with pytest.raises(PlanError, match=r"takes picture .*a segmenter takes one picture, float32"):
        segments.OnnxSegmenter(path)


def test_other_answers_are_refused(tmp_path: Path) -> None:
    picture = discs()
    flat = write_network(tmp_path / "flat.onnx", ("Flatten", {}))
    with pytest.raises(PlanError, match=r"answers with float32 of shape \(1, \d+\); a segmenter answers"):
        segments.OnnxSegmenter(flat)(picture)
    counts = write_network(
        tmp_path / "counts.onnx", ("Cast", {"to": TensorProto.INT32}), answers=TensorProto.INT32
    )
    with pytest.raises(PlanError, match=r"answers with int32 of shape \(1, 3, \d+, \d+\)"):
        segments.OnnxSegmenter(counts)(picture)
    one = write_network(tmp_path / "one.onnx", weights=np.array([[5, 0, -5]]))
    with pytest.raises(PlanError, match=r"one mask of values beyond \[0, 1\]; end the network in a sigmoid"):
        segments.OnnxSegmenter(one)(picture)
    nothing = write_network(tmp_path / "log.onnx", ("Log", {}))
    with pytest.raises(PlanError, match="values that are not finite"):
        segments.OnnxSegmenter(nothing)(picture)


def test_a_network_that_fails_says_on_what(tmp_path: Path) -> None:
    path = write_network(tmp_path / "net.onnx", ("Squeeze", {}), ("Softmax", {"axis": 3}), answers=FLOAT)
    with pytest.raises(PlanError, match=r"net\.onnx"):
        segments.OnnxSegmenter(path)(discs())


def test_files_that_are_no_network(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"absent\.onnx is not a file; give a network in the ONNX format"):
        segments.OnnxSegmenter(tmp_path / "absent.onnx")
    for content in (b"", b"not a network", bytes(range(256)) * 40):
        (tmp_path / "bad.onnx").write_bytes(content)
        with pytest.raises(PlanError, match=r"bad\.onnx (cannot be loaded as an ONNX network|takes nothing)"):
            segments.OnnxSegmenter(tmp_path / "bad.onnx")


def test_an_unknown_normalisation(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no normalisation 'bgr'; there are imagenet, unit"):
        segments.OnnxSegmenter(tmp_path / "net.onnx", "bgr")  # type: ignore[arg-type]


def test_without_onnx_runtime_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(PlanError, match=r"needs ONNX Runtime: pip install onnxruntime"):
        segments.OnnxSegmenter(tmp_path / "net.onnx")
