"""The cost of a fit, said before it is paid."""

from __future__ import annotations

import warnings

from sidelight.base.capabilities import capabilities
from sidelight.base.cost import LONG, Cost
from sidelight.base.model import FittedModel
from sidelight.base.warnings import CostWarning

from ._methods import find_method
from ._output import Output

__all__ = ["cost_in_words", "tell_cost"]


def cost_in_words(cost: Cost) -> str:
    """Return rough seconds and memory.

    Examples
    --------
    >>> cost_in_words(Cost(200_000_000, 3.2)), cost_in_words(Cost(3_000_000_000, 4000.0))
    ('about 3 s, 200 MB', 'about 1 h, 3.0 GB')
    >>> cost_in_words(Cost(100, 0.01))
    'about 1 s or less, 1 MB'
    """
    seconds = cost.seconds
    if seconds <= 1.0:
        time = "1 s or less"
    elif seconds < 120:
        time = f"{seconds:.0f} s"
    else:
        time = f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.0f} h"
    size = f"{cost.bytes / 1e9:.1f} GB" if cost.bytes >= 1e9 else f"{max(1, round(cost.bytes / 1e6))} MB"
    return f"about {time}, {size}"


def tell_cost(talk: Output, method: str, model: FittedModel, n: int, d: int) -> None:
    """Print the estimated cost of a fit of n rows and d columns, if the model can estimate it.

    The estimate of a method of another library would be that of our maps around it, without the method itself.
    """
    if not (find_method(method).is_ours and capabilities(model).has_cost):
        return
    try:
        cost = model.estimate_cost(n, d)
    except TypeError:  # --set perplexity=high: the fit names the parameter and what it takes
        return
    talk.answer["cost"] = {"seconds": cost.seconds, "bytes": cost.bytes}
    talk.say(f"  Cost: {cost_in_words(cost)}.")
    if cost.seconds >= LONG:
        warnings.simplefilter("ignore", CostWarning)  # said now; ``open_output`` restores the filters
