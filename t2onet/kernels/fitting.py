"""The planner's inner loops: distances between pictures, and sums of a least-absolute fit."""

from __future__ import annotations

import numpy as np

from ..operations.paper import CURVE_PIECES
from .compiler import compile_kernel, compile_sum_kernel


@compile_sum_kernel
def mean_absolute_difference(picture, target):  # type: ignore[no-untyped-def]
    """Mean |picture - target| over flat float32 arrays."""
    total = np.float64(0)
    for i in range(picture.size):
        total += abs(picture[i] - target[i])
    return total / picture.size


@compile_sum_kernel
def mean_huber_loss(picture, target, delta):  # type: ignore[no-untyped-def]
    """Like `mean_absolute_difference`, but quadratic below `delta`: the loss of reweighted least squares."""
    total = np.float64(0)
    for i in range(picture.size):
        off = abs(picture[i] - target[i])
        total += off if off > delta else np.float32(0.5) * (off * off / delta + delta)
    return total / picture.size


@compile_sum_kernel
def fill_normal_equations(jacobian, residual, delta, weighted, matrix, vector):  # type: ignore[no-untyped-def]
    """J W J' and J W r for J (P, N), weights 1 / max(|r|, delta); `weighted` (N,) is scratch."""
    count, size = jacobian.shape
    for a in range(count):
        row = jacobian[a]
        for i in range(size):
            off = abs(residual[i])
            weighted[i] = row[i] / (off if off > delta else delta)
        along = np.float32(0)
        for i in range(size):
            along += weighted[i] * residual[i]
        vector[a] = along
        for b in range(a + 1):
            other = jacobian[b]
            total = np.float32(0)
            for i in range(size):
                total += weighted[i] * other[i]
            matrix[a, b] = total
            matrix[b, a] = total


@compile_kernel
def add_curve_equations(inputs, targets, knots, delta, diagonal, upper, right):  # type: ignore[no-untyped-def]
    """Normal equations of a piecewise-linear fit at `knots` (9,), reweighted for least absolute error."""
    for i in range(inputs.size):
        place = inputs[i] * np.float32(CURVE_PIECES)
        k = min(int(place), CURVE_PIECES - 1)
        share = place - np.float32(k)
        rest = np.float32(1) - share
        off = abs(knots[k] * rest + knots[k + 1] * share - targets[i])
        weight = 1.0 / (off if off > delta else delta)
        diagonal[k] += weight * rest * rest
        diagonal[k + 1] += weight * share * share
        upper[k] += weight * rest * share
        right[k] += weight * rest * targets[i]
        right[k + 1] += weight * share * targets[i]


@compile_kernel
def perturb_curves(inputs, rises, nudges, results):  # type: ignore[no-untyped-def]
    """Curves with each rise perturbed in turn: inputs (3, K) and rises (C, 8) -> results (3, 8 C, K).

    One curve (C = 1) applies to all channels, of three each to its own.
    """
    pieces, zero, one = np.float32(CURVE_PIECES), np.float32(0), np.float32(1)
    for channel in range(3):
        own = channel if rises.shape[0] == 3 else 0
        total = rises[own].sum()
        for i in range(inputs.shape[1]):
            climbed = zero
            for k in range(CURVE_PIECES):
                part = min(max(inputs[channel, i] * pieces - np.float32(k), zero), one)
                climbed += part * rises[own, k]
            for row in range(results.shape[1]):
                results[channel, row, i] = climbed / total
            for k in range(CURVE_PIECES):
                part = min(max(inputs[channel, i] * pieces - np.float32(k), zero), one)
                nudge = nudges[own, k]
                results[channel, own * CURVE_PIECES + k, i] = (climbed + nudge * part) / (total + nudge)
