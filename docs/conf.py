"""Sphinx: Markdown pages (MyST), the API from docstrings, no network."""

from __future__ import annotations

import sys
from pathlib import Path

import sidelight

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Sidelight"
author = "The Sidelight developers"
copyright = "2026, the Sidelight developers"
version = release = sidelight.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sources"]
exclude_patterns = ["_build", "README.md"]

myst_enable_extensions = ["colon_fence", "deflist", "smartquotes"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_title = "Sidelight"
html_static_path: list[str] = []
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
