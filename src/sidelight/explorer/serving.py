"""``sidelight.explore``: open a fitted map as a page on this machine."""

from __future__ import annotations

import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sidelight.base.messages import require_extra

from ._explorer import Explorer, Setting, begin_session
from ._http import asgi_app
from ._kept import write_page
from ._table import table_of
from .replaying import spoken
from .session import Session

__all__ = ["Served", "begin", "explore", "serve"]


class Served:
    """An explorer that is being served; ``with`` ends it.

    Attributes
    ----------
    address : str
        Where a browser finds the page; it contains the token, so whoever has it may ask and tell.

    See Also
    --------
    sidelight.explore : Makes it.
    """

    def __init__(self, explorer: Explorer, port: int = 0) -> None:
        uvicorn: Any = require_extra("uvicorn", "explore", "explore")
        self._explorer = explorer
        # asyncio sends at once (TCP_NODELAY) only through sockets that say they are TCP. Otherwise the second part of
        # an answer waits up to 40 ms for the browser to acknowledge the first.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self.port = int(self._socket.getsockname()[1])
        token = secrets.token_urlsafe(24)
        hosts = frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})
        self.address = f"http://127.0.0.1:{self.port}/{token}/"
        app = asgi_app(explorer, token, hosts)
        options = {"log_level": "error", "access_log": False, "lifespan": "off", "ws": "none", "server_header": False}
        self._server = uvicorn.Server(uvicorn.Config(app, timeout_graceful_shutdown=1, **options))
        self._server.install_signal_handlers = lambda: None  # Ctrl-C belongs to whoever called
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()
        end = time.monotonic() + 10
        while not self._server.started and self._thread.is_alive() and time.monotonic() < end:
            time.sleep(0.01)

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Served at {self.address}"

    @property
    def model(self) -> Any:
        """The model of the map that is shown."""
        return self._explorer.map().fitted.model

    @property
    def session(self) -> Session:
        """What was said so far."""
        return self._explorer.session

    def export(self, path: str | Path) -> Path:
        """Write the map that is shown as one HTML file, which works offline and without a model; return its path."""
        return write_page(self._explorer, path)

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.2)
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Stop a running fit, and serve no longer."""
        self._explorer.close()
        self._server.should_exit = True
        self._thread.join(5)
        self._socket.close()


def serve(explorer: Explorer, *, port: int = 0, open_browser: bool = False) -> Served:
    """Serve an explorer from a thread of its own, and open the page in a browser if asked to."""
    served = Served(explorer, port)
    if not explorer.state()["fresh"]:
        explorer.warm()
    if open_browser:
        webbrowser.open(served.address)
    return served


def begin(model: Any, X: Any, columns: Any = None, *, given: Any = None, statements: Sequence[Any] = ()) -> Session:
    """The session that an explorer of this model begins with; the parameters are those of :func:`sidelight.explore`.

    See Also
    --------
    sidelight.explore : The page.
    replay : Does a session again.
    """
    return begin_session(model, table_of(model, X, columns, given), spoken(statements))[0]


def explore(
    model: Any,
    X: Any,
    *,
    columns: Any = None,
    given: Any = None,
    statements: Sequence[Any] = (),
    image_shape: tuple[int, int] | None = None,
    row_names: Sequence[str] | None = None,
    periods: Mapping[str, float] | None = None,
    title: str = "Sidelight",
    folder: str | Path = "sidelight-explore",
    port: int = 0,
    open_browser: bool = True,
) -> Served:
    """Open a map as a page on this machine: ask what is where, say what you know, and fit again.

    Needs the extra ``explore``. The page is served to this machine only, behind a random token in its address.

    Parameters
    ----------
    model : fitted model or Pipeline
        A map of two dimensions or more. Refits are fits of copies with its parameters.
    X : array or data frame of shape (n, d)
        The rows of the fit.
    columns : dict or data frame of n rows, default=None
        What is known about the rows besides: colours, and columns that can be factored out or brought out.
    given : as for ``fit``, default=None
        What the model was given, if it was.
    statements : sequence of Statement, default=()
        What is said already when the page opens.
    image_shape : tuple (height, width), default=None
        Shape of the picture that a row is.
    row_names, periods : sequence of str, dict of str to float, default=None
        Names of the rows; periods of columns that are angles, for their colours.
    title, folder : str, path-like
        What the page is called, and where *Save* writes model and session.
    port, open_browser : int, bool
        0 is a free port.

    Returns
    -------
    Served
        With ``address``, ``model`` (of the map that is shown), ``session``, ``wait()`` and ``close()``.

    See Also
    --------
    sidelight.report.write : The map as one file that asks for no server.
    sidelight.explorer.replay : What was said in a session, done again.
    sidelight.explorer.widget : The same in a cell of a notebook.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import KernelInformationEmbedding, explore
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = KernelInformationEmbedding(max_iter=20, tol=1e-2).fit(X)
    >>> with explore(model, X, open_browser=False) as page:
    ...     page.address.startswith("http://127.0.0.1:")
    True
    """
    table = table_of(model, X, columns, given, row_names=row_names, image_shape=image_shape)
    setting = Setting(title, Path(folder), {}, dict(periods or {}))
    explorer = Explorer(model, table, spoken(statements), setting)
    return serve(explorer, port=port, open_browser=open_browser)
