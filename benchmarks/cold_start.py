"""A new process, the import, and a fit of 200 × 5: what a user waits for the first time.

The rival's compiled code may be in its cache from an earlier process; it is given that advantage (one round that is not
counted).
"""

from __future__ import annotations

from benchmarks.harness import Report, fresh_process, race

TITLE = "new process: import, fit 200 × 5"
RIVALS = ("umap-learn",)

_DATA = "import numpy as np; X = np.random.default_rng(0).normal(size=(200, 5));"
_PROGRAMS = {
    "ours": _DATA + "from sidelight import KernelInformationEmbedding; KernelInformationEmbedding().fit(X)",
    "umap-learn": _DATA + "from umap import UMAP; UMAP(random_state=0, n_jobs=1).fit(X)",
    "ours, import": "import sidelight",
    "umap-learn, import": "import umap",
    "scikit-learn, import": "import sklearn.manifold",
}


def run(*, quick: bool) -> Report:
    report = Report()
    programs = {name: (lambda code=code: fresh_process(code)) for name, code in _PROGRAMS.items()}
    times = race(programs, repeats=1 if quick else 3)
    report.faster("import and fit", times["ours"], times["umap-learn"], "umap-learn", at_least=5)
    report.faster("import alone", times["ours, import"], times["umap-learn, import"], "umap-learn")
    report.faster("import alone", times["ours, import"], times["scikit-learn, import"], "sklearn.manifold")
    return report
