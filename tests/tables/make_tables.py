"""Write the tables of ``files/``: real ones (vega_datasets, statsmodels, scikit-learn), and made ones with oddities.

python tests/tables/make_tables.py SITE_PACKAGES     # of an environment that has vega_datasets and statsmodels
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
import uuid
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

FILES = Path(__file__).parent / "files"
VEGA = ("barley", "burtin", "cars", "crimea", "ohlc")
STATSMODELS = ("anes96", "co2", "longley", "modechoice", "statecrime")  # public domain


def real(home: Path) -> None:
    for name in ("seattle-weather", "stocks", "la-riots"):
        shutil.copy(home / "vega_datasets/_data" / f"{name}.csv", FILES / f"{name}.csv")
    for name in VEGA:
        rows = json.loads((home / "vega_datasets/_data" / f"{name}.json").read_text())
        pd.DataFrame(rows).to_csv(FILES / f"{name}.csv", index=False)
    for name in STATSMODELS:
        shutil.copy(home / "statsmodels/datasets" / name / f"{name}.csv", FILES / f"{name}.csv")
    wine = load_wine(as_frame=True)
    wine.frame.assign(target=wine.target_names[wine.target]).to_csv(FILES / "wine.csv", index=False)


def written(name: str, rows: dict[str, list[str]], *, sep: str = ",", encoding: str = "utf-8") -> None:
    with open(FILES / name, "w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=sep, lineterminator="\n")
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))


def german(n: int, rng: np.random.Generator) -> None:
    """Decimal commas, thousands dots, days first, latin-1."""
    price = rng.lognormal(7, 1, n)
    days = pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    written("german.csv", {
        "Kundennr": [str(10_000 + 7 * i + int(rng.integers(0, 5))) for i in range(n)],
        "Größe": [f"{x:.1f}".replace(".", ",") for x in rng.normal(172, 9, n)],
        "Umsatz": [f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in price],
        "Anteil": [f"{x:.1f} %".replace(".", ",") for x in rng.uniform(0, 100, n)],
        "Anzahl": [str(x) for x in rng.poisson(4, n)],
        "Kauf": [day.strftime("%d.%m.%Y") for day in days],
        "Stadt": [str(x) for x in rng.choice(["Köln", "München", "Überlingen"], n)],
        "Stammkunde": [str(x) for x in rng.choice(["ja", "nein"], n)],
    }, sep=";", encoding="latin-1")  # fmt: skip


def accounts(n: int, rng: np.random.Generator) -> None:
    """Currencies, thousands commas, percents, negative numbers in brackets, units, marks of missing entries."""
    balance = rng.normal(2000, 5000, n)
    written("accounts.csv", {
        "account": [f"AC-{i:05d}" for i in rng.permutation(n) + 100],
        "revenue": [f"${x:,.2f}" for x in rng.lognormal(9, 1, n)],
        "balance": [f"({-x:,.0f})" if x < 0 else f"{x:,.0f}" for x in balance],
        "growth": [f"{x:.1f}%" if i % 9 else "n/a" for i, x in enumerate(rng.normal(3, 6, n))],
        "fee": [f"{x:.2f} €" for x in rng.uniform(1, 40, n)],
        "weight": [f"{x:.1f} kg" for x in rng.uniform(1, 90, n)],
        "zip": [f"{x:05d}" for x in rng.choice([501, 2134, 10001, 94110], n)],
        "staff": ["?" if i % 11 == 0 else str(x) for i, x in enumerate(rng.poisson(30, n))],
        "rating": [str(x) for x in rng.choice(["poor", "fair", "good", "excellent"], n)],
    })  # fmt: skip


def wages(n: int, rng: np.random.Generator) -> None:
    """Row numbers with gaps, as a filtered table of R has them."""
    kept = np.sort(rng.choice(np.arange(1, int(1.3 * n)), n, replace=False))
    years = rng.integers(8, 19, n)
    written("wages.csv", {
        "rownames": [str(x) for x in kept],
        "wage": [f"{x:.4f}" for x in np.exp(0.6 + 0.09 * years + rng.normal(0, 0.4, n))],
        "education": [str(x) for x in years],
        "experience": [str(x) for x in rng.integers(0, 45, n)],
        "union": [str(x) for x in rng.choice(["yes", "no"], n, p=[0.2, 0.8])],
        "region": [str(x) for x in rng.choice(["south", "other"], n)],
        "married": [str(x) for x in rng.integers(0, 2, n)],
    })  # fmt: skip


def passengers(n: int, rng: np.random.Generator) -> None:
    """A list of passengers, with gaps, tickets, cabins and names."""
    first, last = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn"], ["Berg", "Cole", "Dahl", "Ekström", "Frost", "Gray"]
    letters = rng.integers(97, 123, (n, 3)).astype(np.uint8)
    written("passengers.csv", {
        "PassengerId": [str(i + 1) for i in range(n)],
        "Survived": [str(x) for x in rng.integers(0, 2, n)],
        "Pclass": [str(x) for x in rng.integers(1, 4, n)],
        "Name": [f"{rng.choice(last)}-{bytes(row).decode()}, {rng.choice(first)}" for row in letters],
        "Sex": [str(x) for x in rng.choice(["male", "female"], n)],
        "Age": ["" if x < 0.2 else f"{a:g}" for x, a in zip(rng.random(n), np.round(rng.gamma(5, 6, n)), strict=True)],
        "SibSp": [str(x) for x in rng.poisson(0.4, n)],
        "Ticket": [f"{rng.choice(['PC', 'CA', 'SOTON'])} {x}" for x in rng.integers(1000, 1000 + n // 2, n)],
        "Fare": [f"{x:.4f}" for x in rng.lognormal(3, 1, n)],
        "Cabin": ["" if x < 0.77 else f"C{int(99 * x)}" for x in rng.random(n)],
        "Embarked": [str(x) for x in rng.choice(["S", "C", "Q", ""], n, p=[0.7, 0.2, 0.08, 0.02])],
    })  # fmt: skip


def survey(n: int, rng: np.random.Generator) -> None:
    """Truth values in several spellings, ordered answers, ranges, an empty and a constant column, free text."""
    opinions = ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]
    parts = ["the bus was late", "friendly staff", "too expensive for what it is", "would come again", "no seats left"]
    written("survey.csv", {
        "response id": [str(uuid.UUID(int=int(rng.integers(0, 2**62)) << 60)) for _ in range(n)],
        "wave": ["2024"] * n,
        "agreed": [str(x) for x in rng.choice(["Yes", "no", "TRUE", "n", ""], n)],
        "opinion": [str(x) for x in rng.choice(opinions, n)],
        "age group": [str(x) for x in rng.choice(["<18", "18-29", "30-49", "50-64", "65+"], n)],
        "notes": [""] * n,
        "comment": [", ".join(rng.permutation(parts)[: rng.integers(2, 5)]) + f" ({i})" for i in range(n)],
        "minutes": [f"{x:.1f}" for x in rng.gamma(3, 4, n)],
    })  # fmt: skip


def orders(n: int, rng: np.random.Generator) -> None:
    """An unnamed index, times of several years, a direction, one giant column, a rare category."""
    times = pd.Timestamp("2019-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 3 * 365 * 1440, n)), "min")
    season = np.cos(2 * np.pi * times.day_of_year.to_numpy() / 365.25)
    shop = rng.choice(["north", "south", "east"], n).astype(object)
    shop[[3, 40]] = ["market stall", "web"]
    written("orders.csv", {
        "Unnamed: 0": [str(i) for i in range(n)],
        "time": [time.strftime("%Y-%m-%d %H:%M") for time in times],
        "amount": [f"{x:.2f}" for x in 50 + 20 * season + rng.normal(0, 5, n)],
        "bytes": [str(x) for x in (rng.pareto(0.6, n) * 1e6).astype(np.int64) + 1],
        "wind_direction": [str(x) for x in rng.integers(0, 360, n)],
        "shop": [str(x) for x in shop],
    })  # fmt: skip


def cities(n: int, rng: np.random.Generator) -> None:
    """Whole numbers that differ in every row and are no identifier, a year per row, an id in any order."""
    people = np.sort((rng.pareto(1.0, n) * 30_000).astype(int) + 20_000 + np.arange(n))[::-1]
    written("cities.csv", {
        "city_id": [str(x) for x in rng.permutation(n) + 3000],
        "population": [str(x) for x in people],
        "founded": [str(x) for x in 1600 + np.arange(n)],
        "area_m2": [str(x) for x in rng.permutation(n) * 977 + 40_000],
        "country": [str(x) for x in rng.choice(["FR", "DE", "PL", "IT"], n)],
    })  # fmt: skip


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    real(Path(sys.argv[1]))
    for seed, make in enumerate((german, accounts, wages, passengers, survey, orders, cities)):
        make(150, np.random.default_rng(seed))
