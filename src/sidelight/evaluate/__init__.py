"""How good is an embedding? Pure functions of the data, the map, and what is known about the rows."""

from sidelight.evaluate._axes import AttributeRecovery, AxisRecovery, axis_recovery
from sidelight.evaluate._comparison import compare
from sidelight.evaluate._neighbourhoods import continuity, neighbour_hit, trustworthiness
from sidelight.evaluate._prediction import Leakage, leakage, recovery
from sidelight.evaluate._reconstruction import reconstruction_error
from sidelight.evaluate._sheet import sheet_correlation

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
