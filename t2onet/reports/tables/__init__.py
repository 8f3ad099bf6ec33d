"""The paper's tables: what they show, how their systems are trained, and what comes of measuring them."""

from .model import PaperTable, Plans, Row, Run
from .paper import TABLES, table_of

__all__ = ["TABLES", "PaperTable", "Plans", "Row", "Run", "table_of"]
