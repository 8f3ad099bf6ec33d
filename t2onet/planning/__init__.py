"""Planning: reverse-engineering an edit into a recipe."""

from .darkroom import plan_darkroom
from .fit import JointFitter
from .local import plan_local
from .pictures import CostFunction, L1Cost
from .planner import ForwardSearch, Plan, SearchNode, plan, plan_pictures
from .report import write_report

__all__ = [
    "CostFunction",
    "ForwardSearch",
    "JointFitter",
    "L1Cost",
    "Plan",
    "SearchNode",
    "plan",
    "plan_darkroom",
    "plan_local",
    "plan_pictures",
    "write_report",
]
