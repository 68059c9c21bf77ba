"""Factor out the laboratory, and predict counterfactual rows: ``python examples/known_laboratory.py [folder]``."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from sidelight import KernelInformationEmbedding, evaluate, report

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(exist_ok=True)

# 178 wines, each measured in one of three laboratories, whose instruments are calibrated differently.
wine = load_wine(as_frame=True)
cultivar = wine.target_names[wine.target]
truth = StandardScaler().set_output(transform="pandas").fit_transform(wine.data)
rng = np.random.default_rng(0)
laboratory = pd.Series(rng.choice(["Graz", "Porto", "Turin"], len(truth)), name="laboratory")
calibration = pd.DataFrame(2 * rng.normal(size=(3, 13)), index=["Graz", "Porto", "Turin"], columns=truth.columns)
X = truth + calibration.loc[laboratory].to_numpy()

plain = KernelInformationEmbedding(random_state=0).fit(X)
informed = KernelInformationEmbedding(random_state=0).fit(X, given=laboratory)

for name, model in {"knowing nothing": plain, "given the laboratory": informed}.items():
    leak = evaluate.leakage(model.embedding_, laboratory)
    hit = evaluate.neighbour_hit(model.embedding_, cultivar)
    print(f"{name}: laboratory {leak.value:.2f} (chance {leak.chance:.2f}), cultivar {hit:.2f}")

# What would Porto have measured? The truth is known here, because the calibrations are ours.
Z = informed.transform(X, given=laboratory)
in_porto = informed.inverse_transform(Z, given=["Porto"] * len(X))
expected = truth + calibration.loc["Porto"].to_numpy()
elsewhere = (laboratory != "Porto").to_numpy()
error = np.sqrt(np.mean((in_porto - expected.to_numpy())[elsewhere] ** 2))
before = np.sqrt(np.mean((X - expected).to_numpy()[elsewhere] ** 2))
print(f"measured elsewhere, as Porto would have: error {error:.2f}, untouched {before:.2f}")

page = report.write(
    informed, out / "laboratories.html", X=X, given=laboratory, colours={"cultivar": cultivar}, plain=plain.embedding_
)
print("report:", page)
