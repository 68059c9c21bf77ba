"""How ``given`` is read and factored out, as a value of the parameter ``conditioning``."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.base.options import OptionValue
from sidelight.side.value_kernels import as_plain_kernel

__all__ = ["Conditioning"]


@dataclass(frozen=True, repr=False)
class Conditioning(OptionValue):
    """How ``given`` is factored out: types, bandwidths and kernels of its columns, and the weight of its term.

    For the parameter ``conditioning`` of :class:`KernelInformationEmbedding`, where a name alone stands for
    ``Conditioning(name)``.

    Parameters
    ----------
    method : "auto", "balanced", "residual" or "product", default="auto"
        "balanced": the effect of ``given`` is subtracted from the data, and each row gets as many neighbours in every
        group; for ``bandwidth="perplexity"`` only. "residual": the published product of kernels, on the data with the
        effect subtracted. "product": the published product of kernels on the data itself. "auto": "balanced" with
        ``bandwidth="perplexity"``, else "residual".
    types : str, float, list or dict, default=None
        The type of each column of ``given`` ("category", "number", "ordinal", "angle" in degrees, or the period as a
        number), for all columns, one by one, or by name. None: inferred from the entries.
    bandwidth : float, list or dict, default=None
        Bandwidth of the kernel of ``given``: how different two entries must be to count as different, in units of the
        column (for categories, the bandwidth of a kernel on one-hot codes). None: chosen by the model (1 for
        categories), and widened if many columns would leave rows without similar ones; a bandwidth set here is never
        widened, except, with a warning, a very narrow one with the multilevel solver. 0: the delta kernel of categories
        (S0 3.25), 1 within a category and 0 between two, for any number of them; for "product" only.
    weight : float, default=1.0
        Weight of the term that penalises information about ``given`` in the embedding, relative to the information
        about the rest. 0: no such term; only the kernel is balanced. Above 1: ``given`` is removed more strongly, even
        where it is confounded with the rest.
    kernel : array of shape (c, c), mapping of mappings, pandas table, or list of these, default=None
        Kernel matrix between the values of a column of ``given``, instead of the Gaussian; for "product" only. The rows
        of an array are the values 0 to c - 1, those of a mapping or table are named: ``{"a": {"a": 1.0, "b": 0.3},
        ...}``. It may include values that do not occur in ``fit``: ``transform`` and ``inverse_transform`` accept any
        value that it includes, and no others. For a kernel between rows, let ``given`` number the rows. For several
        columns: a list with a kernel or None (Gaussian) for each.

    See Also
    --------
    KernelInformationEmbedding : Takes it as ``conditioning``.
    KernelOptions : How the data kernel is stored.

    Examples
    --------
    >>> from sidelight import Conditioning, KernelInformationEmbedding
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(100, random_state=0)
    >>> hours = (data.X[:, 0] - data.X[:, 0].min()) * 12
    >>> model = KernelInformationEmbedding(conditioning=Conditioning(types=24.0)).fit(data.X, given=hours)
    >>> model.given_.columns[0].kind, model.conditioning_
    ('angle', 'balanced')

    A kernel matrix between values:

    >>> import numpy as np
    >>> K = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.5], [0.1, 0.5, 1.0]])
    >>> known = Conditioning("product", kernel=K)
    >>> model = KernelInformationEmbedding(bandwidth=1.0, conditioning=known).fit(data.X, given=np.arange(100) % 3)
    >>> model.inverse_transform(model.embedding_[:4], given=2).shape
    (4, 3)
    """

    method: str = "auto"
    types: object = None
    bandwidth: object = None
    weight: float = 1.0
    kernel: object = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", as_plain_kernel(self.kernel))
