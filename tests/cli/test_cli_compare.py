"""Several methods on the same rows: one page with the maps side by side, and their measures."""

import copy
import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sidelight
from sidelight.cli._compare_page import MOST_ROWS, ComparedMap, best_of, comparison_page
from sidelight.cli._matrix import Matrix

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from chromium import Page, find_chromium

FEATURES = ["length", "width", "height", "depth"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The answer of a comparison and its folder, made once: what a test gets is a copy."""
    return {"folder": tmp_path_factory.mktemp("compared") / "out"}


@pytest.fixture
def compared(table, run, here, kept):
    if "answer" not in kept:
        kept["answer"] = answer_of_comparison(table, run)
        shutil.copytree("out", kept["folder"])
    else:
        shutil.copytree(kept["folder"], "out")
    return copy.deepcopy(kept["answer"])


def answer_of_comparison(table, run):
    done = run(
        "compare",
        table,
        "--methods",
        "pca,hybrid,tsne",
        "--set",
        "tsne__perplexity=10",
        "--out",
        "out",
        "--json",
        "--colour",
        "kind",
        "--no-standardize",
    )
    assert done.code == 0, done.err
    return done.answer


def test_the_measures_are_those_of_evaluate(compared, frame):
    X = frame[FEATURES].to_numpy()
    places = pd.read_csv("out/embeddings.csv")
    for method in ("pca", "hybrid", "tsne"):
        Z = places[[f"{method} z1", f"{method} z2"]].to_numpy()
        found = compared["measures"][method]
        assert found["trustworthiness"] == pytest.approx(sidelight.evaluate.trustworthiness(X, Z, n_neighbors=12))
        assert found["continuity"] == pytest.approx(sidelight.evaluate.continuity(X, Z, n_neighbors=12))
        hit = sidelight.evaluate.neighbour_hit(Z, frame["kind"], n_neighbors=10)
        assert found["neighbour hit, kind"] == pytest.approx(hit)
        assert found["seconds"] > 0


def test_reconstruction_is_measured_on_rows_that_were_held_out(compared, frame):
    from sklearn.decomposition import PCA

    X = frame[FEATURES].to_numpy()
    held = np.arange(len(X)) % 5 == 4
    own = PCA(2).fit(X[~held])
    lost = np.square(X[held] - own.inverse_transform(own.transform(X[held]))).sum()
    spread = np.square(X[held] - X[~held].mean(axis=0)).sum()
    assert compared["measures"]["pca"]["reconstruction R²"] == pytest.approx(1 - lost / spread)


def test_the_files_say_the_same_as_the_answer(compared):
    table = pd.read_csv("out/measures.csv").set_index("method")
    assert list(table.index) == ["pca", "hybrid", "tsne"]
    for method, found in compared["measures"].items():
        assert table.loc[method, "continuity"] == pytest.approx(found["continuity"])
    page = Path("out/compare.html").read_text()
    assert page.count("<circle") == 3 * 60
    assert page.count("<figure>") == 3
    assert f"{compared['measures']['tsne']['trustworthiness']:.3f}" in page
    assert compared["best"]["trustworthiness"]


def test_rows_have_the_same_colour_on_every_map(compared, frame):
    page = Path("out/compare.html").read_text()
    maps = [re.findall(r'fill="(#\w+)"/>', part) for part in page.split("<figure>")[1:]]
    assert maps[0] == maps[1] == maps[2]
    colours = pd.Series(maps[0]).groupby(frame["kind"].to_numpy()).nunique()
    assert (colours == 1).all()
    data = json.loads(re.search(r'id="comparison">(.*?)</script>', page).group(1))
    assert [column["name"] for column in data["columns"]] == ["kind", *FEATURES]


def test_a_method_that_fails_is_said_and_the_others_go_on(table, run, here):
    done = run("compare", table, "--methods", "pca,tsne", "--set", "tsne__perplexity=500", "--out", "out")
    assert done.code == 0, done.err
    assert "tsne: perplexity" in done.err
    assert "perplexity" in Path("out/compare.html").read_text()
    assert list(pd.read_csv("out/embeddings.csv").columns) == ["row", "pca z1", "pca z2"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--methods", "pca"], "--methods: name two or more"),
        (["--methods", "pca,pca"], "--methods pca: is there twice"),
        (["--methods", "pca,isomop"], "--methods isomop: no such method; did you mean isomap?"),
        (["--methods", "pca,ppca-mixture"], "--methods ppca-mixture: has no map of rows to compare"),
        (["--methods", "pca,kie", "--set", "perplexity=3"], "--set perplexity: say whose setting it is"),
        (["--methods", "pca,kie", "--set", "tsne__perplexity=3"], "--set tsne__perplexity: say whose setting it is"),
    ],
)
def test_what_is_wrong_with_a_comparison_is_said(options, sentence, table, run, here):
    done = run("compare", table, *options, "--out", "out")
    assert done.code == 1
    assert sentence in done.err
    assert not (here / "out").exists()


def test_nothing_is_overwritten_unasked(compared, table, run):
    done = run("compare", table, "--methods", "pca,hybrid", "--out", "out")
    assert done.code == 1
    assert "compare.html: exists already; use --force" in done.err


def test_ties_are_all_best_and_missing_measures_lose():
    measured = {"a": {"m": 0.98101, "seconds": 1.01}, "b": {"m": 0.98099, "seconds": 0.99}, "c": {"seconds": 3.0}}
    assert best_of(measured) == {"m": ["a", "b"], "seconds": ["a", "b"]}


def test_text_of_the_data_is_no_markup(here):
    kind = ["</script><script>alert(1)</script>", "<b>"] * 10
    matrix = Matrix(X=np.random.default_rng(0).normal(size=(20, 2)), colours=pd.DataFrame({"<i>": kind}))
    page = comparison_page("<t>", [ComparedMap("pca", matrix.X, {"continuity": 1.0})], matrix, command="<c>")
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert "<t>" not in page


def test_of_many_rows_some_are_drawn_and_that_is_said():
    X = np.random.default_rng(0).normal(size=(MOST_ROWS + 500, 2))
    page = comparison_page("t", [ComparedMap("a", X, {}), ComparedMap("b", X[:, :1], {})], Matrix(X=X), command="")
    assert page.count("<circle") == 2 * MOST_ROWS
    assert f"The maps show {MOST_ROWS} of {MOST_ROWS + 500} rows." in page


def test_a_map_that_is_only_turned_is_drawn_as_the_first():
    X = np.random.default_rng(0).normal(size=(30, 2)) * [3, 1]
    turn = np.array([[0.0, 1.0], [1.0, 0.0]])
    page = comparison_page("t", [ComparedMap("a", X, {}), ComparedMap("b", X @ turn, {})], Matrix(X=X), command="")
    first, second = (re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', part) for part in page.split("<figure>")[1:])
    np.testing.assert_allclose(np.array(first, float), np.array(second, float), atol=0.11)


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="no Chromium")
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
@pytest.mark.thorough
def test_the_page_opens_offline_and_finds_a_row_on_every_map(compared, tmp_path, width, dark):
    with Page(tmp_path / "profile", width=width, dark=dark) as page:
        page.open("out/compare.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = "document.querySelectorAll('figure circle')[7].getBoundingClientRect()"
        page.evaluate(f"window.scrollTo(0, {box}.top - 300)")
        x, y = (page.evaluate(f"{box}.{side} + {box}.{size} / 2") for side, size in (("x", "width"), ("y", "height")))
        page.move_to(x, y)
        page.wait_until("document.querySelectorAll('circle.on').length === 3")
        assert page.evaluate("document.getElementById('pointed').textContent").startswith("row ")
        before = page.evaluate("document.querySelector('circle').getAttribute('fill')")
        page.evaluate(
            "(c => { c.value = '1'; c.dispatchEvent(new Event('change')); })(document.getElementById('colour'))"
        )
        assert page.evaluate("document.querySelector('circle').getAttribute('fill')") != before
        assert page.evaluate("document.querySelectorAll('#legend span').length") == 5
        assert page.complaints() == []
        assert page.requests() == [Path("out/compare.html").resolve().as_uri()]


def test_dates_are_days_in_the_legend_and_at_a_row():
    when = pd.to_datetime(["2020-01-31", "2021-05-01"] * 10)
    matrix = Matrix(X=np.random.default_rng(0).normal(size=(20, 2)), colours=pd.DataFrame({"when": when}))
    page = comparison_page("t", [ComparedMap("pca", matrix.X, {"continuity": 1.0})], matrix, command="c")
    (column, *_) = json.loads(re.search(r'id="comparison">(.*?)</script>', page).group(1))["columns"]
    assert column["entries"][:2] == ["2020-01-31", "2021-05-01"]
    assert [column["legend"][k][0] for k in (0, -1)] == ["2020-01-31", "2021-05-01"]


def test_what_is_given_is_factored_out_where_a_method_can_and_measured_everywhere(run, here):
    rng = np.random.default_rng(0)
    t, batch = np.tile(np.linspace(0, 3, 40), 2), np.repeat(["first", "second"], 40)
    X = np.column_stack([np.cos(t), np.sin(t), 0.2 * t]) + 3.0 * (batch == "second")[:, None] * [1, -1, 0.5]
    frame = pd.DataFrame(X + 0.01 * rng.normal(size=X.shape), columns=["a", "b", "c"]).assign(batch=batch)
    frame.to_csv("batches.csv", index=False)
    done = run("compare", "batches.csv", "--methods", "kie,pca", "--given", "batch", "--out", "out", "--json")
    assert done.code == 0, done.err
    assert done.answer["given"] == {"columns": ["batch"], "used_by": ["kie"]}
    leaks = {name: found["leakage of given batch"] for name, found in done.answer["measures"].items()}
    assert leaks["pca"] > 0.4
    assert leaks["kie"] < 0.1
    assert done.answer["best"]["leakage of given batch"] == ["kie"]
    assert done.answer["measures"]["kie"]["reconstruction R²"] > 0.9
    page = Path("out/compare.html").read_text()
    assert "can be guessed from neighbours" in page
    assert '"name":"batch"' in page.replace('": "', '":"')
    refused = run("compare", "batches.csv", "--methods", "tsne,pca", "--given", "batch", "--out", "none")
    assert "--given: none of tsne, pca can use it; add kie to --methods" in refused.err
