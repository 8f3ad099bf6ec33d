"""The formulas under torch: the same values, and gradients that training can trust everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet.operations import Frame, Operation, operations
from tests.strategies import moderate

torch = pytest.importorskip("torch", reason="torch is an extra (train)")

every_operation = pytest.mark.parametrize("operation", operations().values(), ids=operations())


def some_parameters(operation: Operation, count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([moderate(operation, rng) for _ in range(count)])


@every_operation
def test_gradcheck_in_image_and_parameters(operation: Operation) -> None:
    generator = torch.Generator().manual_seed(7)
    image = torch.rand((2, 3, 2, 3), generator=generator, dtype=torch.float64, requires_grad=True)
    values = torch.tensor(some_parameters(operation, 2), requires_grad=True)
    assert torch.autograd.gradcheck(operation, (image, values))


@pytest.mark.parametrize("scale", [1.0, 1.5, 3.0])
def test_gradcheck_of_wide_sharpness(scale: float) -> None:
    image = torch.rand((3, 9, 8), dtype=torch.float64, requires_grad=True)
    values = torch.tensor([0.1], dtype=torch.float64, requires_grad=True)
    frame = Frame(9, 8, scale)
    assert torch.autograd.gradcheck(lambda i, v: operations()["sharpness"].run(i, v, frame), (image, values))


@every_operation
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_are_finite_at_the_awkward_colours(operation: Operation, dtype: torch.dtype) -> None:
    black, white, grey, red = (0, 0, 0), (1, 1, 1), (0.5, 0.5, 0.5), (1, 0, 0)
    nearly_black, knot = (1e-30, 0, 0), (0.125, 0.25, 0.875)
    colours = torch.tensor([black, white, grey, red, nearly_black, knot], dtype=dtype)
    for seed in range(20):
        image = colours.T[:, None, :].clone().requires_grad_()
        values = torch.tensor(some_parameters(operation, 1, seed)[0], dtype=dtype, requires_grad=True)
        operation(image, values).sum().backward()
        assert torch.isfinite(image.grad).all()
        assert torch.isfinite(values.grad).all()


@every_operation
def test_torch_and_numpy_agree(operation: Operation) -> None:
    image = np.random.default_rng(8).random((2, 3, 6, 7))
    values = some_parameters(operation, 2)
    result = operation(torch.tensor(image), torch.tensor(values))
    assert result.numpy() == pytest.approx(operation(image, values), abs=1e-12)
