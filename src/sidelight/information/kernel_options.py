"""The data kernel: profile, storage, and the columns it is made from, as a value of the parameter ``kernel``."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.base.options import OptionValue

__all__ = ["KernelOptions"]


@dataclass(frozen=True, repr=False)
class KernelOptions(OptionValue):
    """Profile and storage of a data kernel with one bandwidth for all rows, and the columns used to find neighbours.

    For the parameter ``kernel`` of :class:`KernelInformationEmbedding`, where a name alone stands for
    ``KernelOptions(name)``.

    Parameters
    ----------
    profile : "gaussian", "student" or "quartic", default="gaussian"
        The kernel as a function of squared distance.
    storage : "auto", "dense", "sparse" or "low_rank", default="auto"
        "dense": every pair. "sparse": the pairs that are not negligible. "low_rank": few factors, plus the near pairs.
        "auto": dense up to 10,000 rows; beyond, sparse for a narrow kernel and low-rank for a broad one.
    columns : "auto" or "all", default="auto"
        Columns by which the multilevel solver compares rows. "auto": beyond 64 columns, and without ``given``, the
        principal directions along which neighbours differ less than random rows, because noise in the others hides the
        true neighbours. "all": every column; use it for structure of small variance. The maps use all columns in any
        case.

    See Also
    --------
    KernelInformationEmbedding : Takes it as ``kernel``.
    Conditioning : How ``given`` is factored out.

    Examples
    --------
    >>> from sidelight import KernelInformationEmbedding, KernelOptions
    >>> from sidelight.datasets import s_curve
    >>> model = KernelInformationEmbedding(bandwidth=1.0, kernel=KernelOptions(storage="low_rank"))
    >>> model.fit(s_curve(100, random_state=0).X).data_kernel_
    'low_rank'
    """

    profile: str = "gaussian"
    storage: str = "auto"
    columns: str = "auto"
