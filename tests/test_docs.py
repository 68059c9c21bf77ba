"""Docs that cannot drift: an entry for every public name, examples that run, links and pictures that are there."""

import doctest
import functools
import importlib
import inspect
import operator
import pkgutil
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import sidelight

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MODULES = (
    "anndata",
    "distributed",
    "evaluate",
    "explain",
    "explorer",
    "datasets",
    "gated",
    "pipeline",
    "plot",
    "report",
)
EXTRAS = {"anndata": "anndata", "distributed": "dask", "explorer": "uvicorn", "gated": "torch"}
FRONT = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "llms.txt")
PAGES = sorted(
    [
        *(path for path in DOCS.rglob("*.md") if not {"_build", "gallery", "tutorials"} & set(path.parts)),
        *(ROOT / name for name in FRONT),
    ]
)
ENTRY = re.compile(r"^\.\. (currentmodule|py:module|auto(?:class|function|data|exception)):: (\S+)", re.MULTILINE)


@functools.cache
def entries():
    """Full names of everything the API pages document."""
    found = set()
    for page in (DOCS / "api").glob("*.md"):
        module = ""
        for kind, name in ENTRY.findall(page.read_text(encoding="utf-8")):
            if kind in ("currentmodule", "py:module"):
                module = name
                found.add(name)
            else:
                found.add(name if name.startswith("sidelight.") else f"{module}.{name}")
    return found


def torch_if_gated(name):
    """Skip what is about gated models where torch is not installed."""
    if "gated" in name:
        pytest.importorskip("torch", reason="needs the extra torch")


def public_names():
    rooms = [m for m in MODULES if m not in EXTRAS or find_spec(EXTRAS[m])]
    top = [f"sidelight.{name}" for name in sidelight.__all__]
    return top + [f"sidelight.{m}.{name}" for m in rooms for name in getattr(sidelight, m).__all__]


@pytest.mark.parametrize("name", public_names())
def test_public_name_has_an_entry_in_the_api_pages(name):
    assert name in entries(), f"add {name} to a page under docs/api"


def test_api_pages_document_nothing_that_is_gone():
    pytest.importorskip("torch", reason="needs the extra torch")
    pytest.importorskip("anndata", reason="needs the extra anndata")
    pytest.importorskip("dask", reason="needs the extra scale")
    for name in entries() - {"sidelight"}:
        module, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module(module), last), f"docs/api names {name}, which does not exist"


PAGES_OF = {
    "ActionRespectingEmbedding": ("action_respecting",),
    "CoordinatedCCA": ("coordinated",),
    "CoordinatedMixture": ("coordinated",),
    "BernoulliMixture": ("mixtures",),
    "DistanceMetric": ("metrics",),
    "EquivalenceMetric": ("metrics",),
    "gated.Autoencoder": ("conditional_autoencoders",),
    "gated.BiasedAutoencoder": ("conditional_autoencoders",),
    "gated.GatedAutoencoder": ("conditional_autoencoders",),
    "gated.GatedBoltzmannMachine": ("gated_boltzmann",),
    "gated.GatedField": ("gated_field",),
    "gated.Manifield": ("manifield",),
    "gated.RestrictedBoltzmannMachine": ("gated_boltzmann",),
    "HybridEmbedding": ("hybrid_embedding",),
    "Imputer": ("../missing_values",),
    "JointInformationEmbedding": ("joint_information_embedding",),
    "KernelInformationEmbedding": ("kernel_information_embedding", "informed_embedding"),
    "MultiAttributeMetric": ("metrics",),
    "MultipleRelationalEmbedding": ("multiple_relational",),
    "PPCAMixture": ("mixtures",),
    "ProbabilisticPCA": ("probabilistic_pca",),
    "SemidefiniteEmbedding": ("semidefinite",),
    "SmootherEmbedding": ("smoother_embedding",),
    "TableEncoder": ("../tables",),
    "TwoWayEmbedding": ("two_way_embedding",),
    "UnsupervisedKernelRegression": ("unsupervised_kernel_regression",),
}


@pytest.mark.parametrize("estimator", sorted(PAGES_OF))
def test_method_page_speaks_of_every_parameter(estimator):
    torch_if_gated(estimator)
    pages = [(DOCS / "methods" / f"{name}.md").read_text(encoding="utf-8") for name in PAGES_OF[estimator]]
    made = operator.attrgetter(estimator)(sidelight)()
    missing = [p for p in made.get_params(deep=False) if f"`{p}`" not in "".join(pages)]
    assert not missing


@pytest.mark.parametrize("estimator", sorted({*PAGES_OF, "ReconstructionDistance", "TangentDistance"}))
def test_every_method_cites_its_source(estimator):
    torch_if_gated(estimator)
    docstring = inspect.getdoc(operator.attrgetter(estimator)(sidelight))
    assert re.search(r"^References\n-{10}\n\.\. \[1\] ", docstring, re.MULTILINE)


METHOD_PAGES = sorted({page for pages in PAGES_OF.values() for page in pages if not page.startswith("..")})
SET_BACK = re.compile(
    r"##+ Defaults and the source\n(?:\n[^|#][^\n]*)*\n+\| what \| ours \| [^|]+ \| set back by \|\n[-| ]+\n"
)


def defaults_beside_the_source(page):
    """Rows (what, ours, the source, set back by) of the table of a method's page; empty if it has none."""
    text = (DOCS / "methods" / f"{page}.md").read_text(encoding="utf-8")
    found = SET_BACK.search(text)
    lines = text[found.end() :].split("\n\n")[0].splitlines() if found else []
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def public_parameters():
    """Names of the parameters of all public classes and their public methods."""
    rooms = [sidelight, *([sidelight.gated] if find_spec("torch") else [])]
    classes = [value for room in rooms for value in map(room.__dict__.get, room.__all__) if inspect.isclass(value)]
    classes += [getattr(sidelight, name) for name in sidelight.__all__ if inspect.isclass(getattr(sidelight, name))]
    calls = [call for c in classes for name, call in inspect.getmembers(c, callable) if not name.startswith("_")]
    return {name for call in (*classes, *calls) for name in inspect.signature(call).parameters}


@pytest.mark.parametrize("page", METHOD_PAGES)
def test_method_page_says_how_its_defaults_differ_from_the_source_and_how_to_set_them_back(page):
    torch_if_gated(page if page not in ("conditional_autoencoders", "manifield") else "gated")
    rows = defaults_beside_the_source(page)
    assert len(rows) >= 3, f"add a table 'Defaults and the source' to docs/methods/{page}.md"
    assert all(len(row) == 4 and all(row[:3]) for row in rows)
    spans = [span for row in rows for span in re.findall(r"`([^`]+)`", row[3])]
    named = {name for span in spans for name in re.findall(r"(?<![\w.])([a-z]\w*)=(?!=)", span)}
    assert named <= public_parameters()


def modules():
    names = [info.name for info in pkgutil.walk_packages(sidelight.__path__, "sidelight.")]
    return ["sidelight", *(name for name in names if not name.endswith("__main__"))]


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings_run(name):
    torch_if_gated(name)
    if ".cli" in name:
        pytest.importorskip("typer", reason="needs the extra cli")
    if ".anndata" in name:
        pytest.importorskip("anndata", reason="needs the extra anndata")
    if ".distributed" in name:
        pytest.importorskip("dask", reason="needs the extra scale")
    if name in ("sidelight.explorer._widget", "sidelight.explorer.notebook"):
        pytest.importorskip("anywidget", reason="needs the extra notebook")
    if name == "sidelight.explorer.serving":
        pytest.importorskip("uvicorn", reason="needs the extra explore")
        pytest.importorskip("starlette", reason="needs the extra explore")
    if ".plot" in name:
        pytest.importorskip("matplotlib", reason="needs the extra report")
    module, runner = importlib.import_module(name), doctest.DocTestRunner()
    for found in doctest.DocTestFinder().find(module, name):
        if found.examples:  # a run without any still looks at every source file in memory
            runner.run(found)
    assert runner.summarize(verbose=False).failed == 0


@pytest.fixture
def one_turntable(monkeypatch):
    """Pages begin with the same pictures, which take longer to render than to embed: they are rendered once."""
    monkeypatch.setattr(sidelight.datasets, "turntable", rendered)


rendered = functools.cache(sidelight.datasets.turntable)


def snippets(page):
    """Blocks of Python in a page (a console session is not one)."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.usefixtures("one_turntable")
def test_readme_snippet_runs_and_goes_both_ways():
    (snippet,) = snippets(ROOT / "README.md")
    names = {}
    exec(snippet, names)
    assert names["places"].shape == (5, 2)
    assert names["pictures"].shape == (5, 1024)


RUN = (
    "index",
    "how_to",
    "evaluation",
    "explain",
    "explorer",
    "lecture",
    "tables",
    "missing_values",
    "living_maps",
    "anndata",
    "methods/hybrid_embedding",
    "methods/informed_embedding",
    "methods/joint_information_embedding",
    "methods/kernel_information_embedding",
    "methods/metrics",
    "methods/coordinated",
    "methods/conditional_autoencoders",
    "methods/gated_boltzmann",
    "methods/gated_field",
    "methods/manifield",
    "methods/mixtures",
    "methods/multiple_relational",
    "methods/probabilistic_pca",
    "methods/smoother_embedding",
)


TAKE_SECONDS = {"how_to", "missing_values", "anndata", "explain", "explorer"}


@pytest.mark.usefixtures("one_turntable")
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.thorough if page in TAKE_SECONDS else ()) for page in RUN]
)
def test_snippets_of_a_page_run(page, tmp_path, monkeypatch):
    if page in EXTRAS:
        pytest.importorskip(EXTRAS[page], reason=f"needs the extra {page}")
    monkeypatch.chdir(tmp_path)
    names = {}
    for snippet in snippets(DOCS / f"{page}.md"):
        torch_if_gated(snippet)
        if "sklearn.callback" in snippet and find_spec("sklearn.callback") is None:
            continue  # scikit-learn before 1.9
        if ">>>" in snippet:
            example = doctest.DocTestParser().get_doctest(snippet, names, page, page, 0)
            assert doctest.DocTestRunner().run(example).failed == 0
        else:
            exec(snippet, names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_pictures_of_a_page_are_there(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} points at {target}"


def anchors(page):
    """Anchors that a page has: of its headings, as GitHub and MyST make them, and explicit ones."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", one) for one in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    made = {re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).strip().replace(" ", "-") for heading in headings}
    return made | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)) | set(re.findall(r'id="([\w-]+)"', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_anchors_that_a_page_points_at_are_there(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text):
        if "://" not in target and (not target or target.endswith(".md")):
            assert anchor in anchors(page.parent / target if target else page), f"{page.name}: {target}#{anchor}"


def test_every_picture_is_drawn_by_the_script_and_small():
    drawn = set()
    for script in (DOCS / "figures").glob("*.py"):
        for block in re.findall(r"^FIGURES = \{(.*?)\}", script.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            drawn |= set(re.findall(r'"(\w+)":', block))
    files = list((DOCS / "figures").glob("*.png"))
    assert {path.stem for path in files} == drawn
    assert max(path.stat().st_size for path in files) < 150_000
    assert sum(path.stat().st_size for path in files) < 2_500_000


def test_every_picture_is_used_and_its_command_is_named():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    words = " ".join(text.split())
    for path in (DOCS / "figures").glob("*.png"):
        assert f"figures/{path.name}" in text, f"no page shows {path.name}"
        assert re.search(rf"make\.py {path.stem}\b|\(`{path.stem}`\)", words), path.stem


def test_every_decision_has_its_four_parts():
    pages = sorted((DOCS / "decisions").glob("0*.md"))
    numbers = [int(page.name[:4]) for page in pages]
    assert numbers == list(range(1, len(pages) + 1))
    for page in pages:
        headings = re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert headings[0] == "Question", page.name
        assert "Choice" in headings, page.name
        assert headings[-1] == "When to revisit", page.name


def test_every_file_that_names_the_version_names_the_same():
    version = re.escape(sidelight.__version__)
    for name, line in (
        ("pyproject.toml", f'version = "{version}"'),
        ("CITATION.cff", f"version: {version}"),
        ("recipe/meta.yaml", f'set version = "{version}"'),
        ("CHANGELOG.md", rf"## \[{version}\]"),
    ):
        assert re.search(line, (ROOT / name).read_text(encoding="utf-8")), f"{name} has another version"


def public_classes():
    """Public classes of the library and of its networks that a user makes or fits."""
    top = [name for name in sidelight.__all__ if name[0].isupper()]
    return top + [name for name in sidelight.gated.__all__ if name[0].isupper()]


def test_every_public_class_is_used_in_an_example_of_the_gallery():
    pytest.importorskip("torch", reason="needs the extra torch")
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples" / "gallery").rglob("plot_*.py"))
    missing = [name for name in public_classes() if not re.search(rf"\b{name}[(.]", text)]
    assert not missing, f"add an example under examples/gallery that uses {missing}"
