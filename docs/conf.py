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

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sources",
]
exclude_patterns = ["_build", "README.md"]
suppress_warnings = ["config.cache"]  # functions among the settings of the gallery

myst_enable_extensions = ["colon_fence", "deflist", "smartquotes"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/gallery"],
    "gallery_dirs": ["tutorials", "gallery"],  # written by the build
    "filename_pattern": r"plot_.*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "subsection_order": [
        f"../examples/gallery/{part}" for part in ("informed", "two_way", "tables", "families", "change")
    ],
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "thumbnail_size": (600, 270),  # most pictures have two or three panels side by side
    "show_signature": False,
    "min_reported_time": 20,  # none should take longer
    "remove_config_comments": True,
    "doc_module": ("sidelight",),
    "backreferences_dir": None,
    "copyfile_regex": "",
}

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_title = "Sidelight"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
