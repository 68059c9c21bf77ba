"""The gated Boltzmann machine: hidden units that represent how an input became an output (S0 5.2).

The energies are in ``_machines.py``, the gradient in ``_divergence.py``, the training loop in ``_training.py``.
"""

from __future__ import annotations

import os
from collections.abc import Collection

import numpy as np
from torch import Tensor

from sidelight.base.alias import renamed_argument
from sidelight.base.capabilities import NETWORK_OF_ROWS
from sidelight.base.cost import Cost, check_cost
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.result import Callback
from sidelight.base.types import Array, Function, RandomState
from sidelight.base.validation import check_choice

from ._costs import updates as expected
from ._distance import pairwise_distance
from ._flow import arrows, check_picture, targets
from ._frames import explained
from ._machine_architectures import GatedMachineArchitecture
from ._machines import BIASES, GatedMachine
from ._modules import as_rows, one_thread
from ._objectives import GatedObjective, Sampling
from ._pair_estimator import PairEstimator
from ._premapping import Premapping, check_premapping, premapping_of, shown
from ._rules import MACHINES
from ._settings import MACHINE_OPTIMIZERS, shows_training_parameters

__all__ = ["GatedBoltzmannMachine"]


_BLOCK = 1 << 22  # numbers of the input-dependent filters of one block of rows
_MULTIPLICATIONS = 2.5e10  # per second and core, to estimate the time of a fit


@shows_training_parameters
class GatedBoltzmannMachine(PairEstimator[GatedMachineArchitecture, GatedMachine]):
    """Learn transformations from pairs of rows: infer them, apply them to others, measure distances modulo them.

    Parameters
    ----------
    n_mapping : int, default=50
        Number of mapping units: hidden units that encode the transformation.
    n_factors : int or None, default=None
        None: a full three-way tensor; else its factored form, for more than about 100 columns on each side.
    visible : {"binary", "gaussian", "gaussian-learned", "poisson", "multinomial"}, default="gaussian"
        Unit type of the outputs ``y``: values from 0 to 1; real numbers (with unit or learned standard deviations);
        counts; one-hot rows.
    noise : float, default=1.0
        Standard deviation ν of Gaussian outputs, in units of ``output_frame_.scale``: fixed, or the initial value
        ("gaussian-learned").
    mapping : same, default="binary"
        Unit type of the mapping units.
    levels : int or None, default=None
        For multinomial outputs: number of columns of a group (groups are adjacent); None: all columns are one group.
    biases : collection of {"xy", "xz", "yz", "y", "z"}, default=all
        Generalised biases to include: input to output, input to mapping, output to mapping, and constant ones.
    premapping : int, tuple of int, torch.nn.Module or None, default=None
        Network that transforms the inputs first, trained jointly with the rest. Layer sizes: its last layer is linear.
        A module: takes rows (n, d), returns (n, f); a copy of it is trained, starting from its current weights. None:
        no such network.
    cd_steps : int, default=1
        Gibbs sampling steps per update (the k of CD-k).
    negatives : {"mean-field", "sampled"}, default="mean-field"
        Whether these steps take means or draw samples.
    persistent : bool, default=False
        True: persistent contrastive divergence. The chain of a row continues from its last state instead of starting at
        the data, and draws samples. There is one chain for each training row, so rows must be passed as arrays.
    {training parameters}

    Attributes
    ----------
    parameters_ : dict of arrays
    architecture_ : frozen record
        The fitted network's architecture; ``set_params`` after the fit does not change it.
    input_frame_, output_frame_ : Frame
        Centring and scaling of rows. Gaussian outputs are scaled to mean 0 and unit mean square; so are inputs, unless
        outputs are of another type and inputs are between 0 and 1.
    history_ : list of dict
    n_iter_ : int
    weight_decay_ : float
        The weight decay used.
    n_features_in_, n_outputs_ : int

    See Also
    --------
    GatedField : The same at every place of a picture.
    GatedAutoencoder : Trained by reconstruction.
    RestrictedBoltzmannMachine : Without an input.
    sidelight.TangentDistance : A distance by transformations that are known.

    References
    ----------
    .. [1] R. Memisevic. Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
           University of Toronto, 2007, section 5.2.
    .. [2] R. Memisevic and G. E. Hinton. Unsupervised learning of image transformations. IEEE Conference on Computer
           Vision and Pattern Recognition, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.gated import GatedBoltzmannMachine
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 6))
    >>> shift = rng.integers(2, size=500)
    >>> Y = np.where(shift[:, None], np.roll(X, 1, axis=1), np.roll(X, -1, axis=1))
    >>> model = GatedBoltzmannMachine(8, max_iter=400, random_state=0).fit(X, Y)
    >>> moved = model.transfer(X[:200], Y[:200], X[200:400])
    >>> right = np.where(shift[:200, None], np.roll(X[200:400], 1, axis=1), np.roll(X[200:400], -1, axis=1))
    >>> bool(np.corrcoef(moved.ravel(), right.ravel())[0, 1] > 0.9)
    True
    """

    _capabilities = NETWORK_OF_ROWS.also(
        "has_transfer",
        "has_reconstruct",
        "has_flow",
        "has_density",
        "has_cost",
        "learns_by_contrast",
        "has_column_weights",
    )
    _optimizers = MACHINE_OPTIMIZERS
    _rule = MACHINES

    def __init__(
        self,
        n_mapping: int = 50,
        *,
        n_factors: int | None = None,
        visible: str = "gaussian",
        noise: float = 1.0,
        mapping: str = "binary",
        levels: int | None = None,
        biases: Collection[str] = BIASES,
        premapping: Premapping = None,
        cd_steps: int = 1,
        negatives: str = "mean-field",
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
        self.n_mapping = n_mapping
        self.n_factors = n_factors
        self.visible = visible
        self.noise = noise
        self.mapping = mapping
        self.levels = levels
        self.biases = biases
        self.premapping = premapping
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
    @renamed_argument("Y", "y")
    def fit(self, X: Array, y: Array) -> GatedBoltzmannMachine:
        """Learn the transformations from rows of ``X`` (n, d) to rows of ``y`` (n, e)."""
        architecture = self._new_architecture()
        objective, settings = self._objective(architecture), self._settings()
        X, Y = parts = self._new_parts(architecture, X, y)
        check_cost(self, self.estimate_cost(len(X), X.shape[1], Y.shape[1]), len(X))
        framing = self._framing(architecture, X, Y)
        trainer, seed = self._trainer(objective, settings, parts), settings.draw_seed()
        x, y = (part.astype(np.float32) for part in framing.inside(X, Y))
        module = trainer.begin(seed)
        objective.sampling.begin_chains(self._owner, module, y)
        arrays = (x, y, np.arange(len(x))) if self.persistent else (x, y)
        return self._keep_pairs(architecture, framing, trainer.on_arrays(module, arrays, seed))

    @renamed_argument("Y", "y")
    def infer(self, X: Array, y: Array) -> Array:
        """Infer mapping units (n, n_mapping): the transformation from each row of ``X`` to that of ``y``."""
        X, Y = self._pair(X, y)
        module = self._module(X.dtype)

        def mapped(x: Tensor, y: Tensor) -> Tensor:
            machine = module.condition(self._in(x))
            return machine.hidden.mean(machine.hidden_parameters(self._out(y)))

        return self._by_block(mapped, X, Y)

    def apply(self, X: Array, mapping: Array) -> Array:
        """Transform rows of ``X`` (n, d) by mapping units (n, n_mapping), or by one row of them for all."""
        X = self._inputs(X)
        mapping = self._mapping(mapping, self._architecture().n_mapping, X)
        module = self._module(X.dtype)

        def applied(x: Tensor, z: Tensor) -> Tensor:
            machine = module.condition(self._in(x))
            return self._back(machine.visible.mean(machine.visible_parameters(z)))

        return self._by_block(applied, X, mapping)

    @renamed_argument("Y", "y")
    def transfer(self, X: Array, y: Array, X_new: Array) -> Array:
        """Apply the transformation of ``X`` to ``y`` to ``X_new``: an analogy row by row, or of one pair for all."""
        return self.apply(X_new, self.infer(X, y))

    @renamed_argument("Y", "y")
    def reconstruct(self, X: Array, y: Array) -> Array:
        """Reconstruct ``y`` (n, e) from the means of its mapping units."""
        X, Y = self._pair(X, y)
        module = self._module(X.dtype)
        return self._by_block(lambda x, y: self._back(module.condition(self._in(x)).reconstruct(self._out(y))), X, Y)

    def distance(
        self, X: Array, Y: Array, *, symmetric: bool = False, soft: bool = False, output: str = "mean"
    ) -> Array:
        """Distances (n, m) of templates ``X`` (n, d) from queries ``Y`` (m, e) after the best transformation.

        Not symmetric: a template is transformed into a query. ``symmetric`` adds the opposite direction, for rows of
        the same kind. ``soft`` uses the means of the mapping units instead of their most probable values. ``output``:
        the transformed template is the "mean" of the outputs, or their "mode" (arg max), as in section 5.4.2 of the
        source; these differ unless outputs are Gaussian.
        """
        check_choice(self._owner, "output", output, ("mean", "mode"))
        X = self._inputs(X)
        Y = self._outputs("Y", Y).astype(X.dtype, copy=False)
        if symmetric and self.n_outputs_ != self.n_features_in_:
            kinds = f"{self.n_features_in_} and {self.n_outputs_} columns"
            remedy = "Leave it out"
            raise ValueError(
                error_message(self, "symmetric", True, f"needs inputs and outputs of one kind ({kinds})", remedy)
            )
        module = self._module(X.dtype)
        options = {"soft": soft, "mode": output == "mode"}
        found = self._far(module, X, Y, options)
        if symmetric:
            found = found + self._far(module, Y, self._outputs("X", X), options).T
        return np.asarray(found)

    def _far(self, module: GatedMachine, X: Array, Y: Array, options: dict[str, bool]) -> Array:
        with one_thread():
            x, y = self._in(as_rows(X, self.device)), self._out(as_rows(Y, self.device))
            squares = pairwise_distance(module, x, y, **options)
            return np.asarray(squares.sqrt().cpu().numpy() * self.output_frame_.scale)

    @renamed_argument("Y", "y")
    def flow(self, X: Array, y: Array, *, shape: tuple[int, int] | None = None) -> Array:
        """Flow field: the output position of each input column in the transformation of each pair.

        Without ``shape``: the output column (n, d) to which it is connected most strongly. With the ``(height, width)``
        of images: displacements (n, height, width, 2), down and to the right.
        """
        premapping = self._architecture().premapping
        if premapping != ():
            rule = "mixes the input columns, so that a flow between columns is not defined"
            raise ValueError(error_message(self, "premapping", shown(premapping), rule, "Fit without one"))
        mapping = self.infer(X, y)
        if shape is not None:
            check_picture(self, shape, self.n_features_in_, self.n_outputs_)
        with one_thread():
            found = targets(self._module(mapping.dtype), as_rows(mapping, self.device))
            return np.asarray((found if shape is None else arrows(found, shape)).cpu().numpy())

    @renamed_argument("Y", "y")
    def score_samples(self, X: Array, y: Array) -> Array:
        """Log density (n,) of each output given its input, up to a constant that depends on the input alone."""
        X, Y = self._pair(X, y)
        module = self._module(X.dtype)
        return self._by_block(lambda x, y: module.condition(self._in(x)).free_score(self._out(y)), X, Y)

    @renamed_argument("Y", "y")
    def score(self, X: Array, y: Array) -> float:
        """R² of the reconstruction of ``y``, pooled over columns (1 is best)."""
        return explained(self._pair(X, y)[1], self.reconstruct(X, y))

    def estimate_cost(self, n: int, d: int, e: int | None = None) -> Cost:
        """Estimate memory and time of a fit to ``n`` pairs of ``d`` and ``e`` columns (``e=None``: ``d``)."""
        e = d if e is None else e
        settings = self._settings()
        k, rows = self.n_mapping, min(settings.batch_size, n)
        inputs = premapping_of(self._owner, d, check_premapping(self._owner, self.premapping))[1]
        if self.n_factors is None:
            weights, states = inputs * e * k, 4 * rows * e * k
        else:
            weights, states = (inputs + e + k) * self.n_factors, 8 * rows * self.n_factors
        chains = n * e if self.persistent else 0
        updates = (2.0 + self.cd_steps / 10) * rows * weights + 8.0 * weights
        return Cost(
            4 * (5 * weights + states + chains + 3 * n * (d + e)),
            expected(settings) * (updates / _MULTIPLICATIONS + 5e-4),
        )

    def _by_block(self, function: Function[Tensor], *arrays: Array) -> Array:
        """Apply a function of tensors of rows in blocks, small enough for the filters that each row has."""
        block = max(1, int(_BLOCK // (self.n_outputs_ * self._architecture().n_mapping)))
        return self._mapped(function, *arrays, block=block)

    def _new_architecture(self) -> GatedMachineArchitecture:
        return GatedMachineArchitecture.checked(self._owner, self.get_params(deep=False))

    def _objective(self, architecture: GatedMachineArchitecture) -> GatedObjective:
        return GatedObjective(
            architecture, Sampling.checked(self._owner, self.cd_steps, self.negatives, self.persistent)
        )
