"""The page in Chromium, a few seconds each, in the default tests: it loads, answers the pointer, and selects rows."""

import numpy as np
import pytest
from matplotlib.path import Path as Outline
from sklearn.decomposition import PCA

pytest.importorskip("starlette", reason="needs the extra explore")
pytest.importorskip("uvicorn", reason="needs the extra explore")
from opened import PAGE, Opened, find_chromium

from sidelight import ProbabilisticPCA, TwoWayEmbedding
from sidelight.explorer._explorer import Explorer, Setting
from sidelight.explorer._table import table_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (apt-get install chromium)"),
]


def test_the_page_loads_decodes_the_row_under_the_pointer_and_lassos_exactly_the_rows_inside(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * [3, 2, 1, 0.5, 0.1]
    model = ProbabilisticPCA(2).fit(X)
    table = table_of(model, X, {"kind": np.array(["a", "b", "c"])[np.arange(60) % 3]})
    with Opened(tmp_path / "profile", Explorer(model, table, (), Setting("Numbers", tmp_path))) as page:
        decoded = page.hover(7)
        place = page.evaluate(f"{PAGE}.place")
        np.testing.assert_allclose(decoded, model.inverse_transform([place])[0], atol=1e-6)
        np.testing.assert_allclose(page.evaluate(f"{PAGE}.row.values"), X[7], rtol=1e-12)
        assert "Row 7" in page.text("here")
        places = np.array(page.evaluate(
            "(({x, y}, scatter) => Array.from({ length: 60 }, (_, row) => scatter.placeOf(row))"
            ".map(([u, v]) => [x + u, y + v]))"
            f"(document.getElementById('stage-overlay').getBoundingClientRect(), {PAGE}.scatter)"
        ))  # fmt: skip
        corners = np.round(places.mean(axis=0) + [[-160, -90], [150, -120], [170, 60], [20, 10], [-150, 140]])
        within = Outline(corners).contains_points(places)
        assert 5 < within.sum() < 55
        assert page.draw(corners.tolist()) == set(np.flatnonzero(within))
        page.wait_until("document.getElementById('selection').innerText.includes('What sets it apart')")
        assert f"A: {within.sum()} rows" in page.text("selection")
        first = page.explorer.map().summary(np.flatnonzero(within), None)["features"][0]
        assert page.evaluate("document.querySelector('.effects tbody th').textContent") == first["name"]
        assert [one for one in page.complaints() if "WebGL" not in str(one)] == []
        assert all(address.startswith(page.served.address) for address in page.requests())


@pytest.mark.thorough
@pytest.mark.parametrize("n", [3, 200])
def test_tables_of_numbers_alone_need_no_column_beside_them(n, tmp_path):
    X = np.random.default_rng(1).normal(size=(n, 3))
    model = TwoWayEmbedding(PCA(2)).fit(X)
    with Opened(tmp_path / "profile", Explorer(model, table_of(model, X), (), Setting("Few", tmp_path))) as page:
        page.hover(1)
        page.evaluate(f"{PAGE}.select([0], 'replace')")
        page.wait_until("document.getElementById('selection').innerText.includes('A: 1 row')")
        assert [one for one in page.complaints() if "WebGL" not in str(one)] == []
