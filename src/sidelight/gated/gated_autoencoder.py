"""The gated auto-encoder: codes that say how an input became an output, without probabilities (S0 6.2.1)."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, Self

import numpy.typing as npt
from torch import Tensor, nn

from sidelight.base.capabilities import NETWORK_OF_ROWS
from sidelight.base.fitting import all_or_nothing, all_or_nothing_continued
from sidelight.base.messages import complain
from sidelight.base.result import Callback

from ._batches import Batch
from ._network_model import PairedModel
from ._networks import PATHS, GatedNetwork, finished
from ._premapping import check_gate, check_layers, layers, premapping

__all__ = ["GatedAutoencoder"]

Array = npt.NDArray[Any]


class GatedAutoencoder(PairedModel):
    """Learn transformations from pairs of rows: infer them, apply them, take a guess onto the manifold of an input.

    Parameters
    ----------
    n_mapping : int, default=20
        Mapping units: the code, which says how the input became the output.
    n_factors : int or None, default=None
        None: full three-way tensors; else their factored form, for more than about 100 columns on each side.
    activation : {"sigmoid", "tanh", "relu", "linear"}, default="sigmoid"
        Of the mapping units.
    biases : collection of {"xz", "yz", "z", "xy", "zy", "y"}, default=all
        Which generalised biases there are: input, output or nothing to mapping; input, mapping or nothing to output.
    premapping : int, tuple of int or None, default=None
        Sizes of the layers of a network that inputs pass first, trained together with the rest; the last one is linear.
    predictor : tuple of int or None, default=None
        Sizes of the hidden layers of a network, trained along, that makes the first guess in ``predict``; (): a linear
        one. None: the guess is given, or is the input itself.
    loss : {"squared", "cross-entropy", "multinomial"}, default="squared"
        Outputs are numbers; from 0 to 1, answered as probabilities; or one-hot in groups of ``levels`` columns, side by
        side, answered as the probabilities of each group.
    levels : int or None, default=None
        Of "multinomial": columns of one group; None: all are one group.
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
    input_frame_, output_frame_ : Frame
        How rows are moved and scaled first.
    history_ : list of dict
    n_iter_ : int
    n_features_in_, n_outputs_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.gated import GatedAutoencoder
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 6))
    >>> shift = rng.integers(2, size=500)
    >>> Y = np.where(shift[:, None], np.roll(X, 1, axis=1), np.roll(X, -1, axis=1))
    >>> model = GatedAutoencoder(2, weight_decay=1e-3, random_state=0).fit(X, Y)
    >>> moved = model.transfer(X[:200], Y[:200], X[200:400])
    >>> right = np.where(shift[:200, None], np.roll(X[200:400], 1, axis=1), np.roll(X[200:400], -1, axis=1))
    >>> bool(np.corrcoef(moved.ravel(), right.ravel())[0, 1] > 0.9)
    True
    """

    _capabilities = NETWORK_OF_ROWS.also(
        "has_transfer", "has_reconstruct", "has_predict", "has_predictor", "has_column_weights"
    )

    def __init__(
        self,
        n_mapping: int = 20,
        *,
        n_factors: int | None = None,
        activation: str = "sigmoid",
        biases: Collection[str] = PATHS,
        premapping: int | tuple[int, ...] | None = None,
        predictor: tuple[int, ...] | None = None,
        loss: str = "squared",
        levels: int | None = None,
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
        self.n_mapping = n_mapping
        self.n_factors = n_factors
        self.activation = activation
        self.biases = biases
        self.premapping = premapping
        self.predictor = predictor
        self.loss = loss
        self.levels = levels
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

    _widths = (2, 3)  # batches may bring first guesses

    @all_or_nothing
    def fit(self, X: Array, Y: Array, *, guess: Array | None = None) -> GatedAutoencoder:
        """Learn how rows of ``X`` (n, d) become rows of ``Y`` (n, e).

        ``guess`` (n, e): first guesses of ``Y`` such as ``predict`` will be given. Then the model also learns to take
        these to ``Y``, as it does with those of its ``predictor``.
        """
        self._check_parameters()
        parts = self._group(X, Y, *(() if guess is None else (guess,)), reset=True)
        self._frames(*parts[:2])
        self._fit_rows(self._framed(*parts))
        return self

    @all_or_nothing_continued
    def partial_fit(self, X: Array, Y: Array, *, guess: Array | None = None) -> Self:
        """One update for each batch of these rows, in their order; parameters and optimiser go on from where they are.

        The scale of rows is that of the first call. ``validation_fraction`` and ``checkpoint`` play no part.
        """
        self._continue_pairs(X, Y, *(() if guess is None else (guess,)))
        return self

    def infer(self, X: Array, Y: Array) -> Array:
        """Mapping units (n, n_mapping): which transformation takes each row of ``X`` to that of ``Y``."""
        X, Y = self._pair(X, Y)
        module = self._module(X.dtype)
        return self._by_block(lambda x, y: module.condition(self._in(x)).encode(self._out(y)), X, Y)

    def apply(self, X: Array, mapping: Array) -> Array:
        """Transform rows of ``X`` (n, d) by mapping units (n, n_mapping), or one row of these for all."""
        X = self._inputs(X)
        mapping = self._mapping(mapping, self.n_mapping, X)
        module = self._module(X.dtype)
        return self._by_block(lambda x, z: self._finished(module.condition(self._in(x)).decode(z)), X, mapping)

    def transfer(self, X: Array, Y: Array, X_new: Array) -> Array:
        """Do to rows of ``X_new`` what was done from ``X`` to ``Y``: an analogy by rows (or of one pair for all)."""
        return self.apply(X_new, self.infer(X, Y))

    def reconstruct(self, X: Array, Y: Array) -> Array:
        """``Y`` as the model sees it through its mapping units: its projection onto the manifold of ``X`` (n, e)."""
        X, Y = self._pair(X, Y)
        module = self._module(X.dtype)
        return self._by_block(lambda x, y: self._finished(module.condition(self._in(x)).project(self._out(y))), X, Y)

    def predict(self, X: Array, guess: Array | None = None) -> Array:
        """Outputs (n, e): a first guess (n, e), taken onto the manifold of each row of ``X`` (n, d).

        Without ``guess`` it is what the predictor says, or the input itself where that has as many columns.
        """
        X = self._inputs(X)
        module = self._module(X.dtype)
        if guess is None and module.predictor is not None:
            return self._by_block(lambda x: self._finished(self._point(module, self._in(x), None)), X)
        guess = self._outputs("guess", self._first(X) if guess is None else guess, X)
        return self._by_block(lambda x, y: self._finished(self._point(module, self._in(x), self._out(y))), X, guess)

    def _first(self, X: Array) -> Array:
        if self.n_features_in_ != self.n_outputs_:
            rule = f"is needed: inputs have {self.n_features_in_} columns, outputs {self.n_outputs_}"
            raise ValueError(complain(self, "guess", None, rule, "Give a first guess, or fit with predictor=(30,)"))
        return X

    def _check_parameters(self) -> None:
        check_gate(self, PATHS)
        check_layers(self, "predictor", self.predictor)
        self._check_network()

    def _network(self, n_inputs: int, n_outputs: int) -> nn.Module:
        network, n_features = premapping(n_inputs, check_layers(self, "premapping", self.premapping))
        sizes = (n_inputs, *check_layers(self, "predictor", self.predictor), n_outputs)
        return GatedNetwork(
            n_features,
            n_outputs,
            self.n_mapping,
            n_factors=self.n_factors,
            activation=self.activation,
            biases=self.biases,
            premapping=network,
            predictor=None if self.predictor is None else layers(sizes),
        )

    def _readings(self, module: GatedNetwork, batch: Batch) -> list[tuple[float, Tensor]]:
        x, y, *given = batch
        coded = module.condition(x)
        read = [coded.project(y)]
        if module.predictor is not None:
            raw = module.predictor(x)
            read += [coded.project(finished(self.loss, raw, self.levels)), raw]
        read += [coded.project(first) for first in given]
        return [(1.0, raw) for raw in read]

    def _point(self, module: GatedNetwork, x: Tensor, guess: Tensor | None) -> Tensor:
        if module.predictor is not None and guess is None:
            guess = finished(self.loss, module.predictor(x), self.levels)
        return module.condition(x).project(guess)
