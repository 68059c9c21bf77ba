"""The gated auto-encoder: codes that represent the transformation of an input into an output (S0 6.2.1)."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Self

import numpy as np
from torch import Tensor

from sidelight.base.alias import renamed_argument
from sidelight.base.capabilities import NETWORK_OF_ROWS
from sidelight.base.cost import Cost, check_cost
from sidelight.base.fitting import all_or_nothing, all_or_nothing_continued
from sidelight.base.messages import error_message
from sidelight.base.result import Callback
from sidelight.base.types import Array, RandomState

from ._costs import network_cost
from ._frames import explained
from ._network_architectures import GatedArchitecture
from ._networks import PATHS, GatedNetwork
from ._objectives import PredictionObjective
from ._pair_estimator import PairEstimator
from ._premapping import Premapping
from ._rules import NETWORKS_OF_PAIRS
from ._settings import NETWORK_OPTIMIZERS, shows_training_parameters

__all__ = ["GatedAutoencoder"]


@shows_training_parameters
class GatedAutoencoder(PairEstimator[GatedArchitecture, GatedNetwork]):
    """Learn transformations from pairs of rows: infer them, apply them, and predict outputs of inputs.

    An auto-encoder of outputs whose weights depend on the input. ``predict`` projects a first guess onto the manifold
    of outputs that the input allows.

    Parameters
    ----------
    n_mapping : int, default=20
        Number of mapping units: the code of the transformation from input to output.
    n_factors : int or None, default=None
        None: full three-way tensors; else their factored form, for more than about 100 columns on each side.
    activation : {"sigmoid", "tanh", "relu", "linear"}, default="sigmoid"
        Activation of the mapping units.
    biases : collection of {"xz", "yz", "z", "xy", "zy", "y"}, default=all
        Generalised biases to include: of mapping units from inputs ("xz"), outputs ("yz") or constant ("z"); of outputs
        from inputs ("xy"), mapping units ("zy") or constant ("y").
    premapping : int, tuple of int, torch.nn.Module or None, default=None
        Network that transforms the inputs first, trained jointly with the rest. Layer sizes: its last layer is linear.
        A module: takes rows (n, d), returns (n, f); a copy of it is trained, starting from its current weights. None:
        no such network.
    predictor : tuple of int or None, default=None
        Hidden layer sizes of a network, trained jointly, that makes the first guess in ``predict``; (): a linear one.
        None: the guess is an argument of ``predict``, or the input itself.
    loss : {"squared", "cross-entropy", "multinomial"}, default="squared"
        "squared": outputs are real numbers. "cross-entropy": from 0 to 1; predictions are probabilities. "multinomial":
        one-hot in adjacent groups of ``levels`` columns; predictions are probabilities per group.
    levels : int or None, default=None
        For "multinomial": number of columns of a group; None: all columns are one group.
    {training parameters}

    Attributes
    ----------
    parameters_ : dict of arrays
    architecture_ : frozen record
        The fitted network's architecture; ``set_params`` after the fit does not change it.
    input_frame_, output_frame_ : Frame
        Centring and scaling of inputs and outputs.
    history_ : list of dict
    n_iter_ : int
    weight_decay_ : float
        The weight decay used.
    n_features_in_, n_outputs_ : int

    See Also
    --------
    GatedBoltzmannMachine : With a distribution, and sampling.
    BiasedAutoencoder : The input moves biases alone.

    References
    ----------
    .. [1] R. Memisevic. Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
           University of Toronto, 2007, section 6.2.1.

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
        "has_transfer", "has_reconstruct", "has_predict", "has_predictor", "has_column_weights", "has_cost"
    )
    _optimizers = NETWORK_OPTIMIZERS
    _rule = NETWORKS_OF_PAIRS
    _widths = (2, 3)  # batches may bring first guesses

    def __init__(
        self,
        n_mapping: int = 20,
        *,
        n_factors: int | None = None,
        activation: str = "sigmoid",
        biases: Collection[str] = PATHS,
        premapping: Premapping = None,
        predictor: tuple[int, ...] | None = None,
        loss: str = "squared",
        levels: int | None = None,
        optimizer: str = "auto",
        learning_rate: float | None = None,
        momentum: float = 0.9,
        weight_decay: float | None = None,
        decay_biases: bool = False,
        batch_size: int | None = None,
        max_iter: int | None = None,
        validation_fraction: float | None = None,
        patience: int | None = None,
        device: str = "cpu",
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: RandomState = None,
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
        self.decay_biases = decay_biases
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
    @renamed_argument("Y", "y")
    def fit(self, X: Array, y: Array, *, guess: Array | None = None) -> GatedAutoencoder:
        """Learn the transformations from rows of ``X`` (n, d) to rows of ``y`` (n, e).

        ``guess`` (n, e): first guesses of ``y``, of the kind that will be passed to ``predict``. The model then also
        learns to map these to ``y``, as it does with those of its ``predictor``.
        """
        architecture = self._new_architecture()
        objective, settings = self._objective(architecture), self._settings()
        parts = self._new_parts(architecture, X, y, *(() if guess is None else (guess,)))
        check_cost(self, self.estimate_cost(len(parts[0]), parts[0].shape[1], parts[1].shape[1]), len(parts[0]))
        framing = self._framing(architecture, *parts[:2])
        rows = tuple(part.astype(np.float32) for part in framing.inside(*parts))
        trainer, seed = self._trainer(objective, settings, parts), settings.draw_seed()
        return self._keep_pairs(architecture, framing, trainer.on_arrays(trainer.begin(seed), rows, seed))

    @all_or_nothing_continued
    @renamed_argument("Y", "y")
    def partial_fit(self, X: Array, y: Array, *, guess: Array | None = None) -> Self:
        """Continue training: one update for each batch of these rows, in their order.

        Parameters and optimiser state continue from the last call. Rows are scaled as in the first call.
        ``validation_fraction`` and ``checkpoint`` are not used.
        """
        return self._continue(X, y, *(() if guess is None else (guess,)))

    @renamed_argument("Y", "y")
    def infer(self, X: Array, y: Array) -> Array:
        """Infer mapping units (n, n_mapping): the transformation from each row of ``X`` to that of ``y``."""
        X, Y = self._pair(X, y)
        module = self._module(X.dtype)
        return self._mapped(lambda x, y: module.condition(self._in(x)).encode(self._out(y)), X, Y)

    def apply(self, X: Array, mapping: Array) -> Array:
        """Transform rows of ``X`` (n, d) by mapping units (n, n_mapping), or by one row of them for all."""
        X = self._inputs(X)
        mapping = self._mapping(mapping, self._architecture().n_mapping, X)
        module = self._module(X.dtype)
        return self._mapped(lambda x, z: self._finished(module.condition(self._in(x)).decode(z)), X, mapping)

    @renamed_argument("Y", "y")
    def transfer(self, X: Array, y: Array, X_new: Array) -> Array:
        """Apply the transformation of ``X`` to ``y`` to ``X_new``: an analogy row by row, or of one pair for all."""
        return self.apply(X_new, self.infer(X, y))

    @renamed_argument("Y", "y")
    def reconstruct(self, X: Array, y: Array) -> Array:
        """Reconstruct ``y`` (n, e) from its mapping units: its projection onto the manifold that ``X`` allows."""
        X, Y = self._pair(X, y)
        module = self._module(X.dtype)
        return self._mapped(lambda x, y: self._finished(module.condition(self._in(x)).project(self._out(y))), X, Y)

    def predict(self, X: Array, guess: Array | None = None) -> Array:
        """Predict outputs (n, e): project a first guess (n, e) onto the manifold that each row of ``X`` (n, d) allows.

        Without ``guess`` it is the output of the predictor, or the input itself if that has as many columns.
        """
        X = self._inputs(X)
        module, architecture = self._module(X.dtype), self._architecture()
        if guess is None and module.predictor is not None:
            return self._mapped(lambda x: self._finished(architecture.point(module, self._in(x), None)), X)
        first = self._outputs("guess", self._first(X) if guess is None else guess, X)
        return self._mapped(
            lambda x, y: self._finished(architecture.point(module, self._in(x), self._out(y))), X, first
        )

    @renamed_argument("Y", "y")
    def score(self, X: Array, y: Array) -> float:
        """R² of the predictions, pooled over columns (1 is best)."""
        return explained(self._pair(X, y)[1], self.predict(X))

    def estimate_cost(self, n: int, d: int, e: int | None = None) -> Cost:
        """Estimate memory and time of a fit to ``n`` pairs of ``d`` and ``e`` columns (``e=None``: ``d``).

        The search for a weight decay is included.
        """
        architecture, settings, e = self._new_architecture(), self._settings(), d if e is None else e
        rows = min(settings.batch_size, n)
        k, f = architecture.n_mapping, architecture.n_factors
        return network_cost(
            architecture, settings, (d, e), n=n, rows=rows, folded=d + e + (4 * e * k if f is None else 8 * f)
        )

    def _first(self, X: Array) -> Array:
        if self.n_features_in_ != self.n_outputs_:
            rule = f"is needed: inputs have {self.n_features_in_} columns, outputs {self.n_outputs_}"
            raise ValueError(
                error_message(self, "guess", None, rule, "Give a first guess, or fit with predictor=(30,)")
            )
        return X

    def _finished(self, raw: Tensor) -> Tensor:
        return self._back(self._architecture().finished(raw))

    def _new_architecture(self) -> GatedArchitecture:
        return GatedArchitecture.checked(self._owner, self.get_params(deep=False))

    def _objective(self, architecture: GatedArchitecture) -> PredictionObjective[GatedNetwork]:
        return PredictionObjective(architecture, architecture.weighted_outputs)
