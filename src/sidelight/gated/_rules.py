"""Values of training parameters that are None, for one kind of model.

With ``max_iter=None`` training ends by itself: at a constant rate until the loss of held-out rows stops falling, then
with a rate that falls to 0 over half as many updates again, unless the loss of held-out rows rises. A given
``max_iter`` is the number of updates, and the other parameters that are None have the values of earlier versions, which
reproductions rely on: no rows are held out, there is no weight decay, and the rate is ``published_rate``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = [
    "CROPS_OF_MACHINES",
    "CROPS_OF_NETWORKS",
    "FEW",
    "HELD_OUT",
    "MACHINES",
    "NETWORKS",
    "NETWORKS_OF_PAIRS",
    "PATIENCE",
    "RESTRICTED",
    "TrainingRule",
]

HELD_OUT, PATIENCE = 0.1, 2
"""Share of the rows that is held out, and evaluations to wait for, where training ends by itself."""
FEW = 1000
"""Training rows below which held-out rows are looked at more often."""


@dataclass(frozen=True)
class TrainingRule:
    """Rates, decays and lengths of training.

    Parameters
    ----------
    published_rate : float
        Learning rate where ``max_iter`` is given; the others hold where training ends by itself.
    learning_rate, weight_decay, batch_size
        Values of these parameters.
    longest : int
        Most updates.
    unjudged : int
        Updates if rows are too few to hold some out.
    decays : tuple of float
        Weight decays to try where a problem is small enough to be trained on all rows at once, from the strongest on;
        the search ends with the first one that is worse on held-out rows.
    at_once : int
        Most rows times parameters that are trained on all rows at once; beyond, batches get there sooner.
    real_decay : float or None
        ``weight_decay`` for Gaussian outputs; None: the same.
    per_column : bool
        Whether ``weight_decay`` is to be divided by the number of modelled columns, because the loss is.
    look, look_at_few : int
        Updates between evaluations of the loss of held-out rows, and the same with fewer than ``FEW`` training rows:
        there 50 updates are many epochs. Models of pairs, whose loss has a first plateau, do not look more often.
    """

    published_rate: float
    learning_rate: float
    weight_decay: float
    longest: int
    unjudged: int = 500
    batch_size: int = 100
    decays: tuple[float, ...] = ()
    at_once: int = 1_000_000
    real_decay: float | None = None
    per_column: bool = False
    look: int = 50
    look_at_few: int = 50

    def of_real_outputs(self) -> TrainingRule:
        """The rule for Gaussian outputs."""
        return self if self.real_decay is None else replace(self, weight_decay=self.real_decay)


_DECAYS = (1e-2, 1e-3, 1e-4, 1e-5)
RESTRICTED = TrainingRule(published_rate=0.01, learning_rate=0.03, weight_decay=0.0, longest=3000, look_at_few=20)
MACHINES = TrainingRule(0.01, learning_rate=0.02, weight_decay=1e-3, longest=3000, batch_size=50, real_decay=1e-2)
CROPS_OF_MACHINES = replace(MACHINES, longest=2000, batch_size=3)
NETWORKS = TrainingRule(
    0.001, learning_rate=0.01, weight_decay=0.064, longest=2000, decays=_DECAYS, per_column=True, look_at_few=20
)
NETWORKS_OF_PAIRS = replace(NETWORKS, look_at_few=50)
CROPS_OF_NETWORKS = replace(
    NETWORKS, batch_size=20, decays=(1e-3, 1e-5), at_once=5_000_000, weight_decay=1e-4, per_column=False
)
