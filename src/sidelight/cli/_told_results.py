"""What ``sidelight embed`` says of its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._output import INTERRUPTED, Output
from ._relations import tell_axes

if TYPE_CHECKING:
    from ._embed import Fitted, Request

__all__ = ["tell_given", "tell_results"]


def tell_given(talk: Output, fitted: Fitted) -> None:
    """Print how the model read the given columns."""
    from sidelight.report._understood import understood

    model, names = fitted.file.model, list(fitted.matrix.given.columns)
    if not names:
        return
    words = understood(model)
    if int(fitted.matrix.given.nunique().max()) < 2:
        words = f"given: {', '.join(names)}: the same in every row, so there is nothing to factor out"
    talk.say(words)
    talk.answer["given"] = {
        "columns": names,
        "understood": words,
        "explained": float(model.explained_),
        "confounded": bool(model.confounded_),
    }


def tell_results(talk: Output, request: Request, fitted: Fitted) -> None:
    """Say what was written, and put it into the JSON answer."""
    talk.answer |= {
        **request.results,
        "method": request.method,
        "rows": fitted.matrix.X.shape[0],
        "columns": fitted.X.shape[1] if fitted.is_distances else fitted.matrix.n_columns,
        "dims": request.dims,
        "standardized": fitted.file.is_standardized,
        "seconds": fitted.seconds,
        "interrupted": fitted.interrupted,
        "remarks": fitted.matrix.remarks,
    }
    tell_given(talk, fitted)
    if fitted.interrupted:
        talk.exit_code = INTERRUPTED
        talk.say(f"Interrupted after {fitted.seconds:.1f} s; the best embedding so far is kept.", style="yellow")
    else:
        talk.say(f"Done in {fitted.seconds:.1f} s.")
    if fitted.placement.words:
        talk.say(f"  {fitted.placement.words}")
    tell_axes(talk, fitted.file.model, fitted.placement.names)
    if fitted.unusual is not None:
        talk.answer["unusual_rows"] = fitted.unusual.answer
        talk.say(fitted.unusual.words)
    for path in request.results.values():
        talk.say(f"  wrote {path}")
