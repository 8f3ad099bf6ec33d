"""Planning: reverse-engineering an edit into a recipe."""

from .costs import L1, Cost
from .joint import JointFit
from .local import plan_local
from .planner import Plan, plan, plan_pictures
from .report import write_report
from .search import Node, Search

__all__ = [
    "L1",
    "Cost",
    "JointFit",
    "Node",
    "Plan",
    "Search",
    "plan",
    "plan_local",
    "plan_pictures",
    "write_report",
]
