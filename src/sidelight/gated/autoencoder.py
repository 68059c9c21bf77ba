"""The auto-encoder: rows to a few numbers and back, by networks trained together (S0 2.2.1).

The networks stand in ``networks.py``, the two ways to train them in ``training.py`` and ``descent.py``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from torch import Tensor, nn

from sidelight.base.capabilities import NETWORK_OF_ROWS
from sidelight.base.fitting import all_or_nothing
from sidelight.base.result import Callback
from sidelight.base.validation import check_integer

from ._batches import Batch
from ._frames import explained
from ._network_model import NetworkModel
from ._networks import AutoencoderNetwork, finished
from ._premapping import check_layers
from ._row_model import RowModel

__all__ = ["Autoencoder"]

Array = npt.NDArray[Any]


class Autoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowModel, NetworkModel):
    """Encode rows by a network into a few numbers from which a second one decodes them.

    Parameters
    ----------
    n_components : int, default=2
        Size of the code.
    hidden : tuple of int, default=()
        Sizes of the layers between rows and code; the way back has the same in reverse. None: a linear auto-encoder,
        whose codes span the subspace of PCA.
    activation : {"tanh", "sigmoid", "relu", "linear"}, default="tanh"
        Of the hidden layers. The code and the outputs are linear.
    loss : {"squared", "cross-entropy", "multinomial"}, default="squared"
        Rows are numbers; from 0 to 1, answered as probabilities; or one-hot in groups of ``levels`` columns, side by
        side, answered as the probabilities of each group.
    levels : int or None, default=None
        Of "multinomial": columns of one group; None: all are one group.
    tied : bool, default=False
        True: the way back has the same weights, transposed.
    optimizer : {"auto", "lbfgs", "adam", "sgd"}, default="auto"
        "lbfgs": all rows at once, in double precision. "auto": that where rows times parameters are few, else "adam".
    learning_rate : float, default=0.001
        Of "adam" and "sgd".
    momentum : float, default=0.9
        Of "sgd".
    weight_decay : float, default=0.0
        λ in the penalty λ/2 Σ W² on weights, not on biases. The loss itself is a mean over rows and columns.
    batch_size : int, default=100
        Of "adam" and "sgd".
    max_iter : int, default=2000
        Updates of a batch each, or iterations on all rows.
    validation_fraction : float, default=0.0
        Share of the rows held out; the parameters with the lowest loss on them are kept.
    patience : int, default=5
        With held-out rows: looks (every 100 updates, 10 iterations on all rows) without improvement that end training.
    device : str, default="cpu"
    checkpoint : path or None, default=None
        A file that training by batches is saved to every 100 updates, and taken up from where it exists,
        by a model with the same parameters.
    random_state : int, RandomState or None, default=None
        For the first weights, the batches and what is drawn. None is a fixed seed: the same call gives the same
        result.
    verbose : int, default=0
        1: a progress bar.
    callback : callable or None, default=None
        Called with a state now and then; returning True ends training.

    Attributes
    ----------
    parameters_ : dict of arrays
    frame_ : Frame
        How rows are moved and scaled first (only with squared loss).
    history_ : list of dict
    n_iter_ : int
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.gated import Autoencoder
    >>> t = np.random.default_rng(0).uniform(-1, 1, 200)
    >>> X = np.column_stack([t, t**2, t**3])
    >>> model = Autoencoder(1, hidden=(10,), random_state=0).fit(X)
    >>> Z = model.transform(X)
    >>> bool(abs(model.inverse_transform(Z) - X).max() < 0.05)
    True
    """

    _capabilities = NETWORK_OF_ROWS.also("has_transform", "has_inverse", "has_denoise")

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden: tuple[int, ...] = (),
        activation: str = "tanh",
        loss: str = "squared",
        levels: int | None = None,
        tied: bool = False,
        optimizer: str = "auto",
        learning_rate: float = 1e-3,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        batch_size: int = 100,
        max_iter: int = 2000,
        validation_fraction: float = 0.0,
        patience: int = 5,
        device: str = "cpu",
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.hidden = hidden
        self.activation = activation
        self.loss = loss
        self.levels = levels
        self.tied = tied
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    def fit(self, X: Array, y: Any = None) -> Autoencoder:
        """Train on rows of ``X`` (n, d); ``y`` is not used."""
        del y
        self._check_parameters()
        self._fit_rows(self._in_frame(self._rows(X, reset=True)))
        return self

    def transform(self, X: Array) -> Array:
        """Codes (n, n_components)."""
        X = self._rows(X)
        module = self._module(X.dtype)
        return self._by_block(lambda x: module.encode(self._in(x)), X)

    def inverse_transform(self, X: Array) -> Array:
        """Rows (n, d) that codes (n, n_components) stand for."""
        Z = self._given_codes(X)
        module = self._module(Z.dtype)
        return self._by_block(lambda z: self._finished(module.decode(z)), Z)

    def denoise(self, X: Array) -> Array:
        """Rows as the code knows them (n, d)."""
        X = self._rows(X)
        module = self._module(X.dtype)
        return self._by_block(lambda x: self._finished(module(self._in(x))), X)

    def score(self, X: Array, y: Any = None) -> float:
        """Share of the variance of ``X`` that ``denoise`` keeps (1 is best)."""
        del y
        return explained(self._rows(X), self.denoise(X))

    def _finished(self, raw: Tensor) -> Tensor:
        return self._back(finished(self.loss, raw, self.levels))

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        check_layers(self, "hidden", self.hidden)
        self._check_network()

    def _build(self) -> nn.Module:
        return self._network(self.n_features_in_, self.n_features_in_)

    def _network(self, n_inputs: int, n_outputs: int) -> nn.Module:
        del n_inputs
        sizes = (n_outputs, *check_layers(self, "hidden", self.hidden), self.n_components)
        return AutoencoderNetwork(sizes, self.activation, tied=self.tied)

    def _readings(self, module: AutoencoderNetwork, batch: Batch) -> list[tuple[float, Tensor]]:
        return [(1.0, module(batch[0]))]

    def _point(self, module: AutoencoderNetwork, x: Tensor, guess: Tensor | None) -> Tensor:
        del guess
        return module(x)
