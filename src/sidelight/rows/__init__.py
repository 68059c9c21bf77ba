"""Data sets that can be read more than once: arrays, batches from any source, Dask (``sidelight.distributed``).

Models whose fit is a loop of sums over rows (linear-Gaussian models, mixtures, their coordination) are written once
against :class:`Rows`, and so fit in memory, in batches and on a cluster.
"""

from ._array import ArrayRows
from ._base import BLOCK, Rows, Sample, Statistic, Sums, drawn, row_keys, summed
from ._batches import BatchRows, as_rows, check_batch
from ._known import joined, known_rows, taken
from ._sampled import sampled_numbers, sampled_rows
from ._sink import writing_rows
from ._sparse import SparseRows

__all__ = [
    "BLOCK",
    "ArrayRows",
    "BatchRows",
    "Rows",
    "Sample",
    "SparseRows",
    "Statistic",
    "Sums",
    "as_rows",
    "check_batch",
    "drawn",
    "joined",
    "known_rows",
    "row_keys",
    "sampled_numbers",
    "sampled_rows",
    "summed",
    "taken",
    "writing_rows",
]
