"""What holds for every operation, the day it is registered."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.operations import PAPER, Operation, get_published_operation, operations, sort_by_position
from tests.strategies import images, parameters

every_operation = pytest.mark.parametrize("operation", operations().values(), ids=operations())
PUBLISHED = [get_published_operation(name) for name in PAPER]


def test_the_papers_six_are_registered() -> None:
    assert set(PAPER) == {"brightness", "saturation", "contrast", "sharpness", "tone", "color"}
    assert [operation.name for operation in PUBLISHED] == list(PAPER)


def test_the_papers_order_is_that_of_stored_plans_and_networks() -> None:
    assert PAPER == ("brightness", "saturation", "contrast", "tone", "color", "sharpness")
    usual = ("brightness", "color", "saturation", "tone", "contrast", "sharpness")
    assert sort_by_position(PAPER) == usual


def test_ranges_are_the_contract() -> None:
    ranges = {op.name: {(s.low, s.high, s.default) for s in op.slots} for op in PUBLISHED}
    assert ranges == {
        "brightness": {(-1, 2, 0)},
        "saturation": {(-1, 2, 0)},
        "contrast": {(-1, 1, 0)},
        "sharpness": {(-0.25, 1.5, 0)},
        "tone": {(0.02, 8, 1)},
        "color": {(0.02, 8, 1)},
    }
    assert {op.name: op.size for op in PUBLISHED if op.size > 1} == {"tone": 8, "color": 24}


@every_operation
def test_every_parameter_says_what_it_is(operation: Operation) -> None:
    for parameter in operation.parameters:
        assert parameter.name
        assert parameter.unit
        assert parameter.help
        assert parameter.low <= parameter.default <= parameter.high


@every_operation
@given(image=images("float64"))
def test_defaults_change_nothing(operation: Operation, image: np.ndarray) -> None:
    # The published matrices of colour spaces are inverse to each other within 5e-6.
    tolerance = 1e-12 if operation.name in PAPER else 5e-6
    assert operation(image, operation.defaults) == pytest.approx(image, abs=tolerance)
    assert operation.is_identity(operation.defaults)


@every_operation
@given(data=st.data(), image=images())
def test_the_result_is_a_picture_again(operation: Operation, data: st.DataObject, image: np.ndarray) -> None:
    before = image.copy()
    result = operation(image, data.draw(parameters(operation)))
    assert result.shape == image.shape
    assert result.dtype == image.dtype
    assert np.isfinite(result).all()
    assert result.min() >= 0
    assert result.max() <= 1
    assert np.array_equal(image, before)


@every_operation
@given(data=st.data())
def test_a_batch_is_its_images_one_by_one(operation: Operation, data: st.DataObject) -> None:
    batch = np.random.default_rng(3).random((2, 3, 5, 6))
    values = np.array([data.draw(parameters(operation)) for _ in batch])
    together = operation(batch, values)
    for image, value, result in zip(batch, values, together, strict=True):
        assert np.array_equal(operation(image, value), result)


@pytest.mark.slow
@every_operation
@given(data=st.data())
def test_canonical_parameters_make_the_same_picture(operation: Operation, data: st.DataObject) -> None:
    image = np.random.default_rng(4).random((3, 6, 6))
    values = data.draw(parameters(operation))
    same = operation.canonical(values)
    assert operation(image, same) == pytest.approx(operation(image, values), abs=1e-12)


@pytest.mark.parametrize("name", ["tone", "color"])
@given(data=st.data())
def test_curves_rise_from_black_to_white(name: str, data: st.DataObject) -> None:
    ramp = np.broadcast_to(np.linspace(0, 1, 65), (3, 1, 65))
    result = operations()[name](ramp, data.draw(parameters(operations()[name])))
    assert (np.diff(result) > 0).all()
    assert result[..., 0] == pytest.approx(0)
    assert result[..., -1] == pytest.approx(1)


@pytest.mark.parametrize("name", ["brightness", "contrast"])
def test_a_larger_parameter_does_more(name: str) -> None:
    operation = operations()[name]
    light = np.full((3, 1, 1), 0.6)
    results = [operation(light, p).mean() for p in (-0.5, -0.2, 0.0, 0.2, 0.5)]
    assert results == sorted(results)
    assert len(set(results)) == len(results)
