"""The ten requests with which the paper measures whether words matter."""

from __future__ import annotations

TEN_REQUESTS = (
    "Decrease the brightness.",
    "Increase the brightness.",
    "Enhance the color.",
    "Decrease the color.",
    "Improve contrast.",
    "Reduce contrast.",
    "Increase saturation.",
    "Reduce saturation.",
    "Increase the brightness a little.",
    "Increase the brightness a lot.",
)
"""Of the paper's appendix, for its image variance."""
