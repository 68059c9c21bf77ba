"""The section about how many dimensions the rows have."""

import re

import numpy as np
import pytest

from sidelight import SemidefiniteEmbedding, report
from sidelight.datasets import s_curve


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    X = s_curve(200, random_state=0).X
    path = tmp_path_factory.mktemp("report") / "r.html"
    return report.write(SemidefiniteEmbedding().fit(X), path, X=X).read_text(encoding="utf-8")


@pytest.mark.thorough
def test_a_model_with_a_gram_matrix_tells_its_dimensions_and_its_certificate(page):
    assert "How many dimensions" in page
    assert "The first 2 axes hold 99 % of the variance." in page
    assert re.search(r"has more than \d\S* % more variance", page)


def test_every_axis_has_a_bar_with_its_share(page):
    section = page[page.index("How many dimensions") :]
    titles = re.findall(r"<title>axis (\d): ([^<]+)</title>", section)
    assert [int(number) for number, _ in titles] == list(range(1, len(titles) + 1))
    assert sum(float(share) for _, share in titles) == pytest.approx(1.0, abs=0.01)


def test_one_line_of_rows_has_one_dimension(tmp_path):
    X = np.linspace(0, 1, 30)[:, None] * np.ones((1, 3))
    page = report.write(SemidefiniteEmbedding(1).fit(X), tmp_path / "r.html", X=X).read_text(encoding="utf-8")
    assert "One axis holds 99 % of the variance." in page
