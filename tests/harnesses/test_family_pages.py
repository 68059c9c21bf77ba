"""The page of the families, the openings of method pages and ``sidelight methods`` say the same."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("typer", reason="needs the extra cli")

from benchmarks.family_openings import METHODS, OPENINGS, with_measured
from benchmarks.family_page import NUMBERS, PAGE, page_text, table_of, with_earlier
from sidelight.cli._our_methods import OURS

PAGES = {
    "kie": "kernel_information_embedding",
    "ukr": "unsupervised_kernel_regression",
    "smoother": "smoother_embedding",
    "hybrid": "hybrid_embedding",
    "mds": "hybrid_embedding",
    "tangent": "hybrid_embedding",
    "semidefinite": "semidefinite",
    "coordinated": "coordinated",
    "coordinated-cca": "coordinated",
    "ppca": "probabilistic_pca",
    "joint": "joint_information_embedding",
    "relational": "multiple_relational",
    "action": "action_respecting",
    "ppca-mixture": "mixtures",
    "bernoulli-mixture": "mixtures",
    "autoencoder": "conditional_autoencoders",
    "gated-autoencoder": "conditional_autoencoders",
    "biased-autoencoder": "conditional_autoencoders",
    "rbm": "gated_boltzmann",
    "gated-boltzmann": "gated_boltzmann",
}


def numbers():
    return json.loads(NUMBERS.read_text())


def opening(page):
    """The words of a page before its first example, without links and marks."""
    text = (METHODS / f"{page}.md").read_text().split("```")[0].split("<!-- families")[0]
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\s+", " ", text.replace("**", "").replace("`", ""))


def test_the_page_of_families_is_made_from_the_committed_numbers():
    assert PAGE.read_text() == page_text(numbers()), "run python -m benchmarks.families --page"


@pytest.mark.parametrize("page", OPENINGS)
def test_the_numbers_of_a_method_page_are_those_of_the_table(page):
    text = (METHODS / f"{page}.md").read_text()
    assert "<!-- end of families -->" in text
    assert text == with_measured(text, numbers(), page), "run python -m benchmarks.families --page"


@pytest.mark.parametrize("method", OURS, ids=lambda method: method.name)
def test_a_method_page_begins_with_what_the_command_says(method):
    text = opening(PAGES[method.name])
    assert f"when {method.use}" in text
    assert re.search(rf"[uU]se instead {re.escape(method.avoid)}", text)


@pytest.mark.parametrize("path", sorted(set(METHODS.glob("*.md")) - {METHODS / "index.md"}), ids=lambda path: path.stem)
def test_every_method_page_begins_with_when_to_use_it_and_what_instead(path):
    first = opening(path.stem).partition(". ")[0]
    assert re.search(r"Use (this|[A-Z]\w+) when", first), first
    assert re.search(r"[uU]se .*instead|Use instead", opening(path.stem))


def test_cells_that_lose_are_red_on_the_page():
    kept = {
        "family": "made",
        "chosen_on": ["iris"],
        "tasks": {"a": {"data": "wine", "draws": {"0": {"seconds": 1.0, "commit": "x", "cells": [
            {"task": "k-NN", "measure": "accuracy", "numbers": {"ours": 0.5, "plain": 0.9}},
            {"task": "ridge", "measure": "R²", "numbers": {"ours": 0.9, "plain": 0.5}},
        ]}}}},
    }  # fmt: skip
    lines = page_text(table_of({"family_made": kept})).splitlines()
    lost, won = (next(line for line in lines if name in line) for name in ("k-NN", "ridge"))
    assert lost.count("color: #c0392b") == 2
    assert "loses" in lost
    assert "color" not in won


def made_table(*sets, value, draws=3):
    tasks = {
        name: {"data": name, "draws": {str(seed): {"seconds": 1.0, "commit": "x", "cells": [
            {"task": "k-NN", "measure": "accuracy", "numbers": {"ours": value, "plain": 0.5}},
        ]} for seed in range(draws)}}
        for name in sets
    }  # fmt: skip
    return table_of({"family_metrics": {"family": "made", "chosen_on": ["iris"], "tasks": tasks}})


def test_rows_that_were_not_measured_again_stay_in_the_table_with_their_draws():
    earlier = made_table("wine", "glass", "gone", "often", value=0.9, draws=5)
    new = made_table("wine", value=0.7)
    once = made_table("often", value=0.1, draws=1)
    new["families"][0]["rows"] += once["families"][0]["rows"]
    family = with_earlier(new, earlier, {"family_metrics": {"wine", "glass", "often"}})["families"][0]
    found = {row["data"]: (row["ours"], row["seeds"], row["settled"]) for row in family["rows"]}
    assert found == {"wine": (0.7, 3, True), "glass": (0.9, 5, True), "often": (0.9, 5, True)}
    assert family["cpu_seconds"] == 10 + 3  # half of the earlier draws were kept
    untouched = {"machine": new["machine"], "families": []}
    kept = with_earlier(untouched, earlier, {"family_metrics": {"glass"}})["families"][0]
    assert [row["data"] for row in kept["rows"]] == ["glass"]
