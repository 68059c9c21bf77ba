"""The auto-encoder: encoder and decoder networks trained to reconstruct rows from a short code (S0 2.2.1).

The networks are in ``_networks.py``, the two training loops in ``_training.py`` and ``_descent.py``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from torch import Tensor

from sidelight.base.capabilities import NETWORK_OF_ROWS
from sidelight.base.cost import Cost, check_cost
from sidelight.base.fitting import all_or_nothing
from sidelight.base.result import Callback
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import check_number

from ._batches import Batch
from ._costs import network_cost
from ._frames import explained
from ._network_architectures import AutoencoderArchitecture
from ._networks import AutoencoderNetwork
from ._objectives import PredictionObjective
from ._principal import LARGEST, is_closed_form, set_principal_components
from ._row_estimator import RowEstimator
from ._rules import NETWORKS
from ._settings import NETWORK_OPTIMIZERS, TrainingSettings, shows_training_parameters

__all__ = ["Autoencoder"]


@shows_training_parameters
class Autoencoder(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowEstimator[AutoencoderArchitecture, AutoencoderNetwork]
):
    r"""Auto-encoder: a network encodes rows as short codes, a second one decodes them.

    Parameters
    ----------
    n_components : int, default=2
        Size of the code.
    hidden : tuple of int, default=()
        Sizes of the hidden layers of the encoder; the decoder has the same in reverse. (): a linear auto-encoder, whose
        codes span the subspace of PCA. With squared loss, ``max_iter=None`` and ``weight_decay=None`` these are the
        principal components themselves, computed without training.
    activation : {"tanh", "sigmoid", "relu", "linear"}, default="tanh"
        Activation of the hidden layers. The outputs are linear.
    code_activation : same, default="linear"
        Activation of the code.
    loss : {"squared", "cross-entropy", "multinomial"}, default="squared"
        "squared": rows are real numbers. "cross-entropy": from 0 to 1; reconstructions are probabilities.
        "multinomial": one-hot in adjacent groups of ``levels`` columns; reconstructions are probabilities per group.
    levels : int or None, default=None
        For "multinomial": number of columns of a group; None: all columns are one group.
    tied : bool, default=False
        True: the decoder has the transposed weights of the encoder.
    sparsity : float, default=0.0
        Weight of a penalty on the codes, for a sparse auto-encoder: λ in Σ_d (x_d - x̂_d)² + λ Σ_k \|z_k\| \|w_k\|,
        with the weights w_k of code k in the decoder (so that smaller codes with larger weights gain nothing). With
        ``code_activation="relu"`` most codes become 0, and ``n_components`` may exceed the number of columns.
    {training parameters}

    Attributes
    ----------
    parameters_ : dict of arrays
    architecture_ : frozen record
        The fitted network's architecture; ``set_params`` after the fit does not change it.
    frame_ : Frame
        Centring and scaling of rows (only with squared loss).
    history_ : list of dict
    n_iter_ : int
    weight_decay_ : float
        The weight decay used.
    n_features_in_ : int

    See Also
    --------
    BiasedAutoencoder : The same beside an input that is known.
    GatedAutoencoder : The same, weighted by the input.
    sidelight.ProbabilisticPCA : The linear model, without training.

    References
    ----------
    .. [1] R. Memisevic. Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
           University of Toronto, 2007, section 2.2.1.
    .. [2] G. E. Hinton and R. R. Salakhutdinov. Reducing the dimensionality of data with neural networks. Science 313,
           2006.

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

    _capabilities = NETWORK_OF_ROWS.also("has_transform", "has_inverse", "has_denoise", "has_cost")
    _optimizers = NETWORK_OPTIMIZERS
    _rule = NETWORKS

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden: tuple[int, ...] = (),
        activation: str = "tanh",
        code_activation: str = "linear",
        loss: str = "squared",
        levels: int | None = None,
        tied: bool = False,
        sparsity: float = 0.0,
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
        self.activation = activation
        self.code_activation = code_activation
        self.loss = loss
        self.levels = levels
        self.tied = tied
        self.sparsity = sparsity
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
    def fit(self, X: Array, y: object = None) -> Autoencoder:
        """Train on rows of ``X`` (n, d); ``y`` is not used."""
        del y
        architecture = self._new_architecture()
        objective, settings = self._objective(architecture), self._settings()
        X = self._new_rows(X, architecture.values)
        check_cost(self, self.estimate_cost(*X.shape), len(X))
        framing = self._framing(X, architecture.values)
        rows = tuple(part.astype(np.float32) for part in framing.inside(X))
        trainer, seed = self._trainer(objective, settings), settings.draw_seed()
        module = trainer.begin(seed)
        if self._is_linear(architecture, settings) and is_closed_form(rows[0]):
            found = trainer.solved(module, lambda: set_principal_components(module, rows[0]))
        else:
            found = trainer.on_arrays(module, rows, seed)
        return self._keep_rows(architecture, framing, found)

    def transform(self, X: Array) -> Array:
        """Codes (n, n_components)."""
        X = self._rows(X)
        module = self._module(X.dtype)
        return self._mapped(lambda x: module.encode(self._in(x)), X)

    def inverse_transform(self, X: Array) -> Array:
        """Decode codes ``X`` (n, n_components) to rows (n, d)."""
        Z = self._codes(X)
        module, architecture = self._module(Z.dtype), self._architecture()
        return self._mapped(lambda z: self._back(architecture.finished(module.decode(z))), Z)

    def denoise(self, X: Array) -> Array:
        """Reconstruct rows from their codes: ``inverse_transform(transform(X))``, shape (n, d)."""
        X = self._rows(X)
        module, architecture = self._module(X.dtype), self._architecture()
        return self._mapped(lambda x: self._back(architecture.finished(module(self._in(x)))), X)

    def score(self, X: Array, y: object = None) -> float:
        """R² of the reconstruction ``denoise(X)``, pooled over columns (1 is best)."""
        del y
        return explained(self._rows(X), self.denoise(X))

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimate memory and time of a fit to ``n`` rows of ``d`` columns, the search for a weight decay included."""
        architecture, settings = self._new_architecture(), self._settings()
        if self._is_linear(architecture, settings) and min(n, d) <= LARGEST:
            return Cost(8 * (3 * n * d + 4 * min(n, d) ** 2), (n * d + 10 * min(n, d) ** 2) * min(n, d) / 5e9)
        folded = 2 * (d + sum(architecture.hidden)) + architecture.n_components
        rows = min(settings.batch_size, n)
        return network_cost(architecture, settings, (d, d), n=n, rows=rows, folded=folded)

    def _is_linear(self, architecture: AutoencoderArchitecture, settings: TrainingSettings) -> bool:
        """Whether the network is linear with default training, so that PCA gives the optimum."""
        linear = (
            architecture.hidden == () and architecture.code_activation == "linear" and architecture.loss == "squared"
        )
        chosen = settings.ends_by_itself and settings.optimizer == "auto" and settings.checkpoint is None
        return linear and chosen and "weight_decay" in settings.unset and not self.sparsity

    def _new_architecture(self) -> AutoencoderArchitecture:
        return AutoencoderArchitecture.checked(self._owner, self.get_params(deep=False))

    def _objective(self, architecture: AutoencoderArchitecture) -> PredictionObjective[AutoencoderNetwork]:
        check_number(self, "sparsity", self.sparsity, -1e-12)
        more = _Sparsity(float(self.sparsity)) if self.sparsity else None
        return PredictionObjective(architecture, architecture.weighted_outputs, more)


@dataclass(frozen=True)
class _Sparsity:
    """Loss term λ Σ_k |z_k| |w_k| / d, a mean over rows: the other terms are means over rows and d columns."""

    weight: float

    def __call__(self, module: AutoencoderNetwork, batch: Batch, generator: torch.Generator) -> Tensor:
        del generator
        return self.weight * module.code_size(batch[0]) / batch[0].shape[1]
