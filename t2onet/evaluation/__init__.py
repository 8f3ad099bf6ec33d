"""Measure systems, and make the paper's tables and figures."""

from __future__ import annotations

from .table import ResultTable

__all__ = ["ResultTable"]
