"""The plans of a whole dataset: made once by any engine, kept under the content of the photos."""

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
