"""Measure systems, and make the paper's tables and figures."""
