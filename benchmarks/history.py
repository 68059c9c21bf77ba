"""Ten numbers of one commit, in two minutes: ``python -m benchmarks.history``, kept in ``docs/files/history``.

The README's numbers are of 70,000 rows and take an hour; these are their small relatives, which can be taken of every
commit. Each stands beside a rival of scikit-learn in the same process: seconds of different machines do not compare,
ratios do, roughly. The sources measured are those that Python imports, so an old commit is measured by the
present script::

    git worktree add /tmp/old COMMIT
    PYTHONPATH=/tmp/old/src:. python -m benchmarks.history

A number that an old commit cannot give is left out, with the reason.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsRegressor

import sidelight
from benchmarks.harness import Report, fresh_process, machine, race

FOLDER = Path(__file__).parents[1] / "docs" / "files" / "history"
_CANNOT = (AttributeError, ImportError, TypeError, ValueError, NotImplementedError)


class Run:
    """Data, and the models that several numbers share, fitted on demand."""

    def __init__(self, repeats: int) -> None:
        self.X, self.labels = load_digits(return_X_y=True)
        rng = np.random.default_rng(0)
        self.many = np.vstack([self.X + rng.normal(size=self.X.shape) for _ in range(2)])
        self.repeats, self.report = repeats, Report()
        self.model = sidelight.KernelInformationEmbedding().fit(self.X)
        self.Z = self.model.embedding_
        self.rival = TSNE(random_state=0).fit_transform(self.X)

    def faster(self, what: str, ours: Callable[[], Any], rival: Callable[[], Any], name: str, repeats: int) -> None:
        """Add seconds beside the rival's."""
        times = race({"ours": ours, "rival": rival}, repeats=repeats, warm_up=repeats > 1)
        self.report.faster(what, times["ours"], times["rival"], name)

    def imports(self) -> None:
        ours, rival = "import sidelight; sidelight.KernelInformationEmbedding", "import sklearn.manifold"
        self.faster("import", lambda: fresh_process(ours), lambda: fresh_process(rival), rival, self.repeats)

    def fit(self) -> None:
        self.faster("fit, 1,797 digits", lambda: sidelight.KernelInformationEmbedding().fit(self.X),
                    lambda: TSNE(random_state=0).fit(self.X), "TSNE", 1)  # fmt: skip

    def fit_given(self) -> None:
        names = self.labels.astype(str)
        self.faster("fit, digit given", lambda: sidelight.KernelInformationEmbedding().fit(self.X, given=names),
                    lambda: TSNE(random_state=0).fit(self.X), "TSNE without it", 1)  # fmt: skip

    def fit_many(self) -> None:
        self.faster("fit, 3,594 rows", lambda: sidelight.KernelInformationEmbedding().fit(self.many),
                    lambda: TSNE(random_state=0).fit(self.many), "TSNE", 1)  # fmt: skip

    def transform(self) -> None:
        neighbours = KNeighborsRegressor(15, weights="distance").fit(self.X, self.Z)
        new = self.many[:1797]
        self.faster("transform, 1,797 rows", lambda: self.model.transform(new), lambda: neighbours.predict(new),
                    "nearest neighbours", self.repeats)  # fmt: skip

    def inverse(self) -> None:
        neighbours = KNeighborsRegressor(15, weights="distance").fit(self.Z, self.X)
        new = self.Z + 0.01
        self.faster("inverse_transform, 1,797 rows", lambda: self.model.inverse_transform(new),
                    lambda: neighbours.predict(new), "nearest neighbours", self.repeats)  # fmt: skip

    def linear(self) -> None:
        self.faster("ProbabilisticPCA.fit", lambda: sidelight.ProbabilisticPCA(10).fit(self.X),
                    lambda: PCA(10, random_state=0).fit(self.X), "PCA", self.repeats)  # fmt: skip

    def mixture(self) -> None:
        self.faster("PPCAMixture.fit", lambda: sidelight.PPCAMixture(5, 2, random_state=0).fit(self.X),
                    lambda: GaussianMixture(5, random_state=0).fit(self.X), "GaussianMixture",
                    self.repeats)  # fmt: skip

    def files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.sidelight"

            def ours() -> None:
                sidelight.save(self.model, path)
                sidelight.load(path)

            def rival() -> None:
                buffer = io.BytesIO()
                joblib.dump(self.model, buffer)
                joblib.load(io.BytesIO(buffer.getvalue()))

            self.faster("save and load", ours, rival, "joblib", self.repeats)

    def quality(self) -> None:
        ours, rival = (float(trustworthiness(self.X, Z, n_neighbors=10)) for Z in (self.Z, self.rival))
        self.report.note("trustworthiness", ours, rival=rival, rival_name="TSNE", ratio=ours / rival)


def measured(repeats: int = 3) -> dict[str, Any]:
    """The numbers of the sources that Python imports, with their commit, its date and the machine."""
    run, absent = Run(repeats), {}
    for work in (run.imports, run.fit, run.fit_given, run.fit_many, run.transform, run.inverse, run.linear, run.mixture,
                 run.files, run.quality):  # fmt: skip
        try:
            work()
        except _CANNOT as error:
            absent[work.__name__] = f"{type(error).__name__}: {error}"[:200]
    commit, date = _commit(Path(sidelight.__file__).parent)
    numbers = [asdict(check) for check in run.report.checks]
    repeated = run.report.details.get("repeats", {})
    return {
        "commit": commit,
        "date": date,
        "numbers": numbers,
        "absent": absent,
        "repeats": repeated,
        "machine": machine(),
    }


def _commit(folder: Path) -> tuple[str, str]:
    """Short name and date of the commit that a folder is a clone of."""
    shown = subprocess.run(
        ["git", "show", "-s", "--format=%h %cI", "HEAD"], cwd=folder, capture_output=True, text=True, check=True
    )
    commit, date = shown.stdout.split()
    return commit[:8], date


def main() -> int:
    """Measure, print and keep the numbers."""
    warnings.simplefilter("ignore")
    found = measured()
    for number in found["numbers"]:
        print(f"{number['what']:32} {number['ours']:9.3f} {number['unit']:2} {number['rival_name']:24}"
              f" {number['rival']:9.3f}  ratio {number['ratio']:.2f}")  # fmt: skip
    for name, reason in found["absent"].items():
        print(f"left out: {name} ({reason})")
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{found['date'][:16].replace(':', '')}-{found['commit']}.json"
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    print("written to", path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
