"""The restricted Boltzmann machine: a layer of hidden units that models the density of rows (S0 2.2.3).

The energies are in ``_machines.py``, the gradient in ``_divergence.py``, the training loop in ``_training.py``.
"""

from __future__ import annotations

import os

import numpy as np
import torch
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sidelight.base.capabilities import NETWORK_OF_ROWS
from sidelight.base.cost import Cost, check_cost
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.random import random_seed
from sidelight.base.result import Callback
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import check_integer

from ._costs import updates as expected
from ._divergence import gibbs
from ._frames import explained
from ._machine_architectures import RestrictedArchitecture
from ._machines import PlainMachine
from ._modules import as_rows, one_thread
from ._objectives import RestrictedObjective, Sampling
from ._row_estimator import RowEstimator
from ._rules import RESTRICTED
from ._settings import MACHINE_OPTIMIZERS, shows_training_parameters

__all__ = ["RestrictedBoltzmannMachine"]


_MULTIPLICATIONS = 2.5e10  # per second and core, to estimate the time of a fit


@shows_training_parameters
class RestrictedBoltzmannMachine(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowEstimator[RestrictedArchitecture, PlainMachine]
):
    """Restricted Boltzmann machine: encode rows by hidden units, decode them, sample new rows.

    Parameters
    ----------
    n_components : int, default=50
        Number of hidden units.
    visible : {"binary", "gaussian", "gaussian-learned", "poisson", "multinomial"}, default="gaussian"
        Unit type of the rows: values from 0 to 1; real numbers (with unit or learned standard deviations); counts;
        one-hot rows.
    hidden : same, default="binary"
        Unit type of the hidden units.
    levels : int or None, default=None
        For multinomial rows: number of columns of a group (groups are adjacent); None: all columns are one group.
    cd_steps : int, default=1
        Gibbs sampling steps per update (the k of CD-k).
    negatives : {"sampled", "mean-field"}, default="sampled"
        Whether these steps draw samples or take means. Means reconstruct rows better, but leave regions of high density
        between the rows.
    persistent : bool, default=False
        True: persistent contrastive divergence. The chains continue from the last batch instead of starting at the
        data, and draw samples.
    {training parameters}

    Attributes
    ----------
    parameters_ : dict of arrays
    architecture_ : frozen record
        The fitted network's architecture; ``set_params`` after the fit does not change it.
    frame_ : Frame
        Centring and scaling of rows: for Gaussian units, to mean 0 and unit mean square.
    history_ : list of dict
    n_iter_ : int
    weight_decay_ : float
        The weight decay used.
    n_features_in_ : int

    See Also
    --------
    GatedBoltzmannMachine : The same beside an input.
    sidelight.BernoulliMixture : Binary rows with an exact density.
    sklearn.neural_network.BernoulliRBM : Binary units alone.

    References
    ----------
    .. [1] R. Memisevic. Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
           University of Toronto, 2007, section 2.2.3.
    .. [2] G. E. Hinton. Training products of experts by minimizing contrastive divergence. Neural Computation 14, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.gated import RestrictedBoltzmannMachine
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(rng.integers(2, size=(500, 4)), 3, axis=1)
    >>> model = RestrictedBoltzmannMachine(8, visible="binary", max_iter=500, random_state=0).fit(X)
    >>> broken = X[:100] * (np.arange(12) != 0)
    >>> bool(((model.reconstruct(broken)[:, 0] > 0.5) == X[:100, 0]).mean() > 0.95)
    True
    """

    _capabilities = NETWORK_OF_ROWS.also(
        "has_transform", "has_inverse", "has_reconstruct", "has_density", "has_cost", "learns_by_contrast"
    )
    _optimizers = MACHINE_OPTIMIZERS
    _rule = RESTRICTED

    def __init__(
        self,
        n_components: int = 50,
        *,
        visible: str = "gaussian",
        hidden: str = "binary",
        levels: int | None = None,
        cd_steps: int = 1,
        negatives: str = "sampled",
        persistent: bool = False,
        optimizer: str = "adam",
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
        self.visible = visible
        self.hidden = hidden
        self.levels = levels
        self.cd_steps = cd_steps
        self.negatives = negatives
        self.persistent = persistent
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
    def fit(self, X: Array, y: object = None) -> RestrictedBoltzmannMachine:
        """Learn from rows ``X`` (n, d); ``y`` is not used."""
        del y
        architecture = self._new_architecture()
        objective, settings = self._objective(architecture), self._settings()
        X = self._new_rows(X, architecture.values)
        check_cost(self, self.estimate_cost(*X.shape), len(X))
        framing = self._framing(X, architecture.values)
        inside = framing.inside(X)[0].astype(np.float32)
        trainer, seed = self._trainer(objective, settings), settings.draw_seed()
        module = trainer.begin(seed)
        particles = np.random.default_rng(seed).permutation(len(inside))[: settings.batch_size]
        objective.sampling.begin_chains(self._owner, module, inside[particles])
        return self._keep_rows(architecture, framing, trainer.on_arrays(module, (inside,), seed))

    def transform(self, X: Array) -> Array:
        """Means of the hidden units (n, n_components) of each row."""
        X = self._rows(X)
        machine = self._module(X.dtype).condition()
        return self._mapped(lambda x: machine.hidden.mean(machine.hidden_parameters(self._in(x))), X)

    def inverse_transform(self, X: Array) -> Array:
        """Mean rows (n, d) given hidden units ``X`` (n, n_components)."""
        Z = self._codes(X)
        machine = self._module(Z.dtype).condition()
        return self._mapped(lambda z: self._back(machine.visible.mean(machine.visible_parameters(z))), Z)

    def reconstruct(self, X: Array) -> Array:
        """Reconstruct rows (n, d) from the means of their hidden units."""
        X = self._rows(X)
        machine = self._module(X.dtype).condition()
        return self._mapped(lambda x: self._back(machine.reconstruct(self._in(x))), X)

    def score_samples(self, X: Array) -> Array:
        """Log density of each row (n,) up to a constant: minus the free energy."""
        X = self._rows(X)
        machine = self._module(X.dtype).condition()
        return self._mapped(lambda x: machine.free_score(self._in(x)), X)

    def score(self, X: Array, y: object = None) -> float:
        """R² of the reconstruction of ``X``, pooled over columns (1 is best)."""
        del y
        return explained(self._rows(X), self.reconstruct(X))

    def sample(
        self, n_samples: int = 1, random_state: RandomState = None, *, start: Array | None = None, n_steps: int = 200
    ) -> Array:
        """Draw rows (n_samples, d) by ``n_steps`` of Gibbs sampling, each from a row of ``start`` or from noise.

        ``random_state=None`` uses the model's own, so repeated calls agree.
        """
        check_is_fitted(self, "parameters_")
        if not isinstance(n_samples, int | np.integer) or n_samples < 1:
            raise ValueError(error_message(self, "n_samples", n_samples, "is less than 1", "Ask for at least one row"))
        check_integer(self, "n_steps", n_steps, 1)
        seed = random_seed(random_state, self.random_state)
        machine = self._module(np.float64).condition()
        generator = torch.Generator(device=self.device).manual_seed(seed)
        with one_thread():
            if start is None:
                y = machine.visible.sample(machine.visible_bias.expand(n_samples, -1), generator)
            else:
                rows = self._rows(start).astype(np.float64)
                y = self._in(as_rows(rows[np.arange(n_samples) % len(rows)], self.device))
            y = gibbs(machine, y, n_steps, mean_field=False, generator=generator)
            return np.asarray(self._back(y).cpu().numpy())

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimate memory and time of a fit to ``n`` rows of ``d`` columns."""
        settings = self._settings()
        k, rows = self.n_components, min(settings.batch_size, n)
        updates = (4.0 + 2 * self.cd_steps) * rows * d * k + 8.0 * d * k
        numbers = 5 * d * k + 8 * rows * (d + k) + 3 * n * d
        return Cost(4 * numbers, expected(settings) * (updates / _MULTIPLICATIONS + 5e-4))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _new_architecture(self) -> RestrictedArchitecture:
        return RestrictedArchitecture.checked(self._owner, self.get_params(deep=False))

    def _objective(self, architecture: RestrictedArchitecture) -> RestrictedObjective:
        sampling = Sampling.checked(self._owner, self.cd_steps, self.negatives, self.persistent)
        return RestrictedObjective(architecture, sampling, n_chains=self._settings().batch_size)
