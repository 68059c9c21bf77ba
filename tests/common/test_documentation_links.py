"""scikit-learn's HTML representation: each class links to its place in our API reference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from registry import public_estimators

import sidelight
from sidelight.base.estimator import DOCUMENTATION
from sidelight.pipeline import make_pipeline

API = Path(__file__).parents[2] / "docs" / "api"


def documented():
    """Anchors of the classes that the pages of the API reference describe, by page."""
    found = set()
    for page in API.glob("*.md"):
        module = ""
        for directive, name in re.findall(r"\.\. (currentmodule|autoclass):: (\S+)", page.read_text("utf-8")):
            if directive == "currentmodule":
                module = name
            else:
                found.add(f"api/{page.stem}.html#{module}.{name}")
    return found


def estimators():
    gated = (
        [] if "gated" not in sidelight.__all__ else [getattr(sidelight.gated, name) for name in sidelight.gated.__all__]
    )
    return public_estimators() + [item for item in gated if hasattr(item, "fit")]


@pytest.mark.parametrize("kind", estimators(), ids=lambda kind: kind.__name__)
def test_every_estimator_links_to_a_place_that_the_reference_has(kind):
    link = kind.__new__(kind)._get_doc_link()
    assert link.startswith(DOCUMENTATION)
    assert link.removeprefix(DOCUMENTATION) in documented()


def test_a_pipeline_and_its_steps_show_their_links_in_html():
    pipeline = make_pipeline(sidelight.ProbabilisticPCA(3), sidelight.KernelInformationEmbedding())
    shown = pipeline._repr_html_()
    for place in ("information.html#sidelight.KernelInformationEmbedding", "mixtures.html#sidelight.ProbabilisticPCA"):
        assert f"{DOCUMENTATION}api/{place}" in shown
    assert pipeline._get_doc_link().removeprefix(DOCUMENTATION) in documented()


def test_links_to_the_page_of_estimators_still_lead_to_their_classes():
    """Notebooks and pages elsewhere link to ``api/estimators.html#sidelight.X``, where all classes were described."""
    kept = set(re.findall(r'<span id="sidelight\.(\w+)"></span>', (API / "estimators.md").read_text("utf-8")))
    assert kept >= {kind.__name__ for kind in public_estimators()}


def test_a_class_of_the_user_has_no_link_of_ours():
    class Own(sidelight.ProbabilisticPCA):
        pass

    assert Own()._get_doc_link() == ""
