"""Quality measures of an embedding: pure functions of the data, the map, and known variables of the rows."""

from ._axes import AttributeRecovery, AxisRecovery, axis_recovery
from ._comparison import compare
from ._neighbourhoods import continuity, neighbour_hit, trustworthiness
from ._prediction import Leakage, leakage, recovery
from ._reconstruction import reconstruction_error
from ._sheet import sheet_correlation

__all__ = [
    "AttributeRecovery",
    "AxisRecovery",
    "Leakage",
    "axis_recovery",
    "compare",
    "continuity",
    "leakage",
    "neighbour_hit",
    "reconstruction_error",
    "recovery",
    "sheet_correlation",
    "trustworthiness",
]
