"""Link the short names of the sources, S0 to S4, to the page that says what they are, in pages and docstrings alike."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

SOURCE = re.compile(r"\b(S[0-4])\b")
PLAIN = (nodes.reference, nodes.literal, nodes.literal_block, nodes.title, nodes.raw, nodes.comment)


def link_sources(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Replace S0 ... S4 in running text by references to the page of references."""
    if docname == "references":
        return
    uri = app.builder.get_relative_uri(docname, "references")
    for text in list(doctree.findall(nodes.Text)):
        parents, node = [], text.parent
        while node is not None:
            parents.append(node)
            node = node.parent
        if not SOURCE.search(str(text)) or any(isinstance(parent, PLAIN) for parent in parents):
            continue
        parts: list[nodes.Node] = []
        for place, part in enumerate(SOURCE.split(str(text))):
            if place % 2:
                parts.append(nodes.reference("", part, internal=True, refuri=f"{uri}#{part.lower()}"))
            elif part:
                parts.append(nodes.Text(part))
        text.parent.replace(text, parts)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-resolved", link_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
