"""The explorer: a map one can ask, tell and steer, as a page on this machine (extra ``explore``).

:func:`sidelight.explore` opens the page, and :func:`widget` shows it in a notebook (extra ``notebook``). Everything
that is said there is a :class:`Statement` of a :class:`Session`, a plain value that :func:`replay` turns into the same
maps by a script.
"""

from .notebook import widget
from .replaying import replay
from .serving import Served, begin
from .session import MapRecord, Session
from .statement import Statement

__all__ = ["MapRecord", "Served", "Session", "Statement", "begin", "replay", "widget"]
