"""The biased auto-encoder: a predictor whose output an auto-encoder cleans up (S0 6.2.1, fig. 6.1 b)."""

from __future__ import annotations

import os
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor, nn

from sidelight.base.capabilities import NETWORK_OF_ROWS
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import complain
from sidelight.base.result import Callback
from sidelight.base.validation import check_integer, check_number

from ._batches import Batch
from ._network_model import PairedModel
from ._networks import AutoencoderNetwork, BiasedNetwork, error
from ._premapping import check_layers

__all__ = ["BiasedAutoencoder"]

Array = npt.NDArray[Any]


class BiasedAutoencoder(PairedModel):
    """Predict structured outputs: a network guesses, an auto-encoder of outputs takes the guess onto their manifold.

    Parameters
    ----------
    n_components : int or None, default=10
        Size of the auto-encoder's code. None: no auto-encoder, the predictor alone, to compare with.
    hidden : tuple of int, default=()
        Sizes of the auto-encoder's layers between outputs and code; the way back has the same in reverse.
    predictor : tuple of int, default=(30,)
        Sizes of the predictor's hidden layers; (): a linear predictor.
    activation : {"tanh", "sigmoid", "relu", "linear"}, default="tanh"
        Of the hidden layers. Codes and outputs are linear.
    loss : {"squared", "cross-entropy", "multinomial"}, default="squared"
        Outputs are numbers; from 0 to 1, answered as probabilities; or one-hot in groups of ``levels`` columns, side by
        side, answered as the probabilities of each group.
    levels : int or None, default=None
        Of "multinomial": columns of one group; None: all are one group.
    reconstruction : float, default=0.0
        Weight of a second aim: that true outputs pass the auto-encoder unchanged. Outputs without inputs
        (``fit(..., outputs=)``) teach it the manifold this way.
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
    >>> from sidelight.gated import BiasedAutoencoder
    >>> t = np.random.default_rng(0).uniform(-1, 1, 200)
    >>> X, Y = t[:, None], np.column_stack([t, t**2, np.sin(3 * t)])
    >>> model = BiasedAutoencoder(1, hidden=(10,), weight_decay=1e-3, random_state=0).fit(X, Y)
    >>> bool(model.score(X, Y) > 0.98)
    True
    """

    _capabilities = NETWORK_OF_ROWS.also("has_predict")

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
        self.predictor = predictor
        self.activation = activation
        self.loss = loss
        self.levels = levels
        self.reconstruction = reconstruction
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
    def fit(self, X: Array, Y: Array, *, outputs: Array | None = None) -> BiasedAutoencoder:
        """Learn to predict rows of ``Y`` (n, e) from rows of ``X`` (n, d); ``outputs`` (m, e): more outputs alone.

        These teach the auto-encoder, and so need one, and ``reconstruction`` above 0.
        """
        self._check_parameters()
        if outputs is not None and (self.n_components is None or not self.reconstruction):
            rule = "teach nothing without an auto-encoder that is to reconstruct them"
            remedy = "Set reconstruction=1.0, or leave them out"
            raise ValueError(complain(self, "outputs", f"{len(outputs)} rows", rule, remedy))
        X, Y = self._pair(X, Y, reset=True)
        more = Y if outputs is None else self._outputs("outputs", outputs).astype(Y.dtype, copy=False)
        self._frames(X, more)
        self._alone = None if outputs is None else torch.as_tensor(self.output_frame_.inside(more))
        try:
            self._fit_rows(self._framed(X, Y))
        finally:
            del self._alone
        return self

    def predict(self, X: Array) -> Array:
        """Outputs (n, e) for rows of ``X`` (n, d)."""
        X = self._inputs(X)
        module = self._module(X.dtype)
        return self._by_block(lambda x: self._finished(module(self._in(x))), X)

    def guess(self, X: Array) -> Array:
        """What the predictor says before the auto-encoder (n, e)."""
        X = self._inputs(X)
        module = self._module(X.dtype)
        return self._by_block(lambda x: self._finished(module.guess(self._in(x))), X)

    def project(self, Y: Array) -> Array:
        """Outputs (n, e) as the auto-encoder gives them back."""
        Y = self._outputs("Y", Y)
        module = self._module(Y.dtype)
        if module.autoencoder is None:
            return Y
        return self._by_block(lambda y: self._finished(module.autoencoder(self._out(y))), Y)

    def _check_parameters(self) -> None:
        if self.n_components is not None:
            check_integer(self, "n_components", self.n_components, 1)
        check_layers(self, "hidden", self.hidden)
        check_layers(self, "predictor", self.predictor)
        check_number(self, "reconstruction", self.reconstruction, -1e-12)
        self._check_network()

    def _network(self, n_inputs: int, n_outputs: int) -> nn.Module:
        sizes = (n_inputs, *check_layers(self, "predictor", self.predictor), n_outputs)
        if self.n_components is None:
            return BiasedNetwork(sizes, None, self.activation, loss=self.loss, levels=self.levels)
        code = (n_outputs, *check_layers(self, "hidden", self.hidden), self.n_components)
        autoencoder = AutoencoderNetwork(code, self.activation)
        return BiasedNetwork(sizes, autoencoder, self.activation, loss=self.loss, levels=self.levels)

    def _readings(self, module: BiasedNetwork, batch: Batch) -> list[tuple[float, Tensor]]:
        x, y = batch
        read = [(1.0, module(x))]
        if self.reconstruction and module.autoencoder is not None:
            read.append((self.reconstruction, module.autoencoder(y)))
        return read

    def _loss(self, module: BiasedNetwork, batch: Batch, generator: torch.Generator) -> Tensor:
        total = self._held_out_loss(module, batch)
        alone: Tensor | None = getattr(self, "_alone", None)
        if alone is None or module.autoencoder is None or not self.reconstruction:
            return total
        at_once = batch[0].dtype == torch.float64
        chosen = alone if at_once else alone[torch.randint(len(alone), (len(batch[0]),), generator=generator)]
        rows = chosen.to(batch[0])
        return total + self.reconstruction * error(self.loss, module.autoencoder(rows), rows, self.levels)

    def _point(self, module: BiasedNetwork, x: Tensor, guess: Tensor | None) -> Tensor:
        del guess
        return module(x)
