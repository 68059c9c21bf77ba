"""One self-contained HTML file about a fitted model: it opens offline, on a laptop or a phone.

:func:`write` makes it, and :func:`show` shows it in a notebook. It needs nothing beyond the core dependencies:
the scatter, the pictures and the chart are drawn by this package's own script and PNG writer, and the file
carries a content security policy that forbids it every connection.

A report is a list of sections (:data:`SECTIONS`); a section is a function from the :class:`Context` to a
:class:`Section`, or to None where it has nothing to say.
Adding one means writing that function and passing ``sections=[*SECTIONS, mine]``.
"""

from ._context import Context
from ._section import Section
from ._show import InlineReport, show
from ._write import SECTIONS, write

__all__ = ["SECTIONS", "Context", "InlineReport", "Section", "show", "write"]
