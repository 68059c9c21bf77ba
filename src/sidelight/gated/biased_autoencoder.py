"""The biased auto-encoder: a predictor followed by an auto-encoder of outputs (S0 6.2.1, fig. 6.1 b)."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from sidelight.base.alias import renamed_argument
from sidelight.base.capabilities import NETWORK_OF_ROWS
from sidelight.base.cost import Cost, check_cost
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.result import Callback
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import check_number

from ._batches import Batch
from ._costs import network_cost
from ._frames import explained
from ._network_architectures import BiasedArchitecture
from ._networks import BiasedNetwork, error
from ._objectives import PredictionObjective
from ._pair_estimator import PairEstimator
from ._rules import NETWORKS
from ._settings import NETWORK_OPTIMIZERS, shows_training_parameters

__all__ = ["BiasedAutoencoder"]


@shows_training_parameters
class BiasedAutoencoder(PairEstimator[BiasedArchitecture, BiasedNetwork]):
    """Predict structured outputs: a predictor network, then an auto-encoder that projects onto the outputs' manifold.

    Parameters
    ----------
    n_components : int or None, default=10
        Size of the auto-encoder's code. None: no auto-encoder; the predictor alone, for comparison.
    hidden : tuple of int, default=()
        Sizes of the hidden layers of the encoder of outputs; the decoder has the same in reverse.
    predictor : tuple of int, default=(30,)
        Sizes of the predictor's hidden layers; (): a linear predictor.
    activation : {"tanh", "sigmoid", "relu", "linear"}, default="tanh"
        Activation of the hidden layers. Codes and outputs are linear.
    loss : {"squared", "cross-entropy", "multinomial"}, default="squared"
        "squared": outputs are real numbers. "cross-entropy": from 0 to 1; predictions are probabilities. "multinomial":
        one-hot in adjacent groups of ``levels`` columns; predictions are probabilities per group.
    levels : int or None, default=None
        For "multinomial": number of columns of a group; None: all columns are one group.
    reconstruction : float, default=0.0
        Weight of a second loss term: the auto-encoder should reconstruct true outputs. With it, outputs without inputs
        (``fit(..., outputs=)``) can be used to learn the manifold.
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
    GatedAutoencoder : The input weighs connections instead of biases.
    Manifield : The same on patches of pictures and sequences.

    References
    ----------
    .. [1] R. Memisevic. Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
           University of Toronto, 2007, section 6.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.gated import BiasedAutoencoder
    >>> t = np.random.default_rng(0).uniform(-1, 1, 200)
    >>> X, Y = t[:, None], np.column_stack([t, t**2, np.sin(3 * t)])
    >>> model = BiasedAutoencoder(1, hidden=(10,), weight_decay=1e-3, random_state=0).fit(X, Y)
    >>> bool(model.score(X, Y) > 0.98)
    True
    """

    _capabilities = NETWORK_OF_ROWS.also("has_predict", "has_cost")
    _optimizers = NETWORK_OPTIMIZERS
    _rule = NETWORKS

    def __init__(
        self,
        n_components: int | None = 10,
        *,
        hidden: tuple[int, ...] = (),
        predictor: tuple[int, ...] = (30,),
        activation: str = "tanh",
        loss: str = "squared",
        levels: int | None = None,
        reconstruction: float = 0.0,
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
        self.n_components = n_components
        self.hidden = hidden
        self.predictor = predictor
        self.activation = activation
        self.loss = loss
        self.levels = levels
        self.reconstruction = reconstruction
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
    def fit(self, X: Array, y: Array, *, outputs: Array | None = None) -> BiasedAutoencoder:
        """Learn to predict rows of ``y`` (n, e) from rows of ``X`` (n, d).

        ``outputs`` (m, e): more outputs, without inputs. They train the auto-encoder only, which must exist, and need
        ``reconstruction`` above 0.
        """
        architecture = self._new_architecture()
        objective, settings = self._objective(architecture), self._settings()
        if outputs is not None and (self.n_components is None or not self.reconstruction):
            rule = "have no effect without an auto-encoder that reconstructs them"
            remedy = "Set reconstruction=1.0, or leave them out"
            raise ValueError(error_message(self, "outputs", f"{len(outputs)} rows", rule, remedy))
        X, Y = parts = self._new_parts(architecture, X, y)
        check_cost(self, self.estimate_cost(len(X), X.shape[1], Y.shape[1]), len(X))
        framing = self._framing(architecture, X, Y)
        if outputs is not None:
            found = self._like("outputs", self._output_rows("outputs", outputs, None), architecture, Y)
            more = found.astype(Y.dtype, copy=False)
            framing = self._framing(architecture, X, more)
            alone = torch.as_tensor(framing.outputs.inside(more))
            objective = replace(objective, more=_Reconstruction(alone, architecture, self.reconstruction))
        rows = tuple(part.astype(np.float32) for part in framing.inside(*parts))
        trainer, seed = self._trainer(objective, settings, parts), settings.draw_seed()
        return self._keep_pairs(architecture, framing, trainer.on_arrays(trainer.begin(seed), rows, seed))

    def predict(self, X: Array) -> Array:
        """Outputs (n, e) for rows of ``X`` (n, d)."""
        X = self._inputs(X)
        module = self._module(X.dtype)
        return self._mapped(lambda x: self._finished(module(self._in(x))), X)

    def guess(self, X: Array) -> Array:
        """Output of the predictor alone, without the auto-encoder (n, e)."""
        X = self._inputs(X)
        module = self._module(X.dtype)
        return self._mapped(lambda x: self._finished(module.guess(self._in(x))), X)

    @renamed_argument("Y", "y")
    def project(self, y: Array) -> Array:
        """Reconstruct outputs ``y`` (n, e) by the auto-encoder alone: their projection onto its manifold."""
        Y = self._outputs("y", y)
        autoencoder = self._module(Y.dtype).autoencoder
        if autoencoder is None:
            return Y
        return self._mapped(lambda y: self._finished(autoencoder(self._out(y))), Y)

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
        return network_cost(
            architecture, settings, (d, e), n=n, rows=rows, folded=d + 4 * e + sum(architecture.predictor)
        )

    def _finished(self, raw: Tensor) -> Tensor:
        return self._back(self._architecture().finished(raw))

    def _new_architecture(self) -> BiasedArchitecture:
        return BiasedArchitecture.checked(self._owner, self.get_params(deep=False))

    def _objective(self, architecture: BiasedArchitecture) -> PredictionObjective[BiasedNetwork]:
        check_number(self, "reconstruction", self.reconstruction, -1e-12)
        return PredictionObjective(
            architecture, partial(architecture.weighted_outputs, reconstruction=self.reconstruction)
        )


@dataclass(frozen=True)
class _Reconstruction:
    """Loss term of outputs without inputs, ``alone`` (m, e), scaled; draws as many of them as a batch has rows."""

    alone: Tensor
    architecture: BiasedArchitecture
    weight: float

    def __call__(self, module: BiasedNetwork, batch: Batch, generator: torch.Generator) -> Tensor:
        assert module.autoencoder is not None
        n, is_at_once = len(batch[0]), batch[0].dtype == torch.float64
        drawn = ... if is_at_once else torch.randint(len(self.alone), (n,), generator=generator)
        rows = self.alone[drawn].to(batch[0])
        loss, levels = self.architecture.loss, self.architecture.levels
        return self.weight * error(loss, module.autoencoder(rows), rows, levels)
