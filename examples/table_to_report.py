"""A table to a map, a model file and a report: ``python examples/table_to_report.py [folder]``."""

import sys
from pathlib import Path

from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import sidelight
from sidelight import KernelInformationEmbedding, evaluate, report

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(exist_ok=True)

wine = load_wine(as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(wine.data)
cultivar = wine.target_names[wine.target]

model = KernelInformationEmbedding(random_state=0).set_output(transform="pandas").fit(X)

print(model.transform(X).head(3))
for measure, values in evaluate.compare(X, model.embedding_, labels=cultivar).items():
    print(f"{measure}: {values['embedding']:.3f} (PCA {values['pca']:.3f})")

sidelight.save(model, out / "wine.sidelight", notes={"columns": list(X.columns)})
print("report:", report.write(model, out / "wine.html", X=X, labels=cultivar, title="178 wines"))
