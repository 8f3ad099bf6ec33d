"""Plans of a whole dataset: each pair planned once, by any engine, and stored by photo content."""

from .engines import Engine, LocalEngine, RayEngine
from .run import PlanTotals, plan_dataset
from .store import DatasetPlans, PlanSettings, StoredPlan

__all__ = [
    "DatasetPlans",
    "Engine",
    "LocalEngine",
    "PlanSettings",
    "PlanTotals",
    "RayEngine",
    "StoredPlan",
    "plan_dataset",
]
