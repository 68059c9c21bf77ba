"""Real tables for the imputation benchmark, entries to remove from them, and the errors of a filled table.

Removal (``remove``), each column apart, so that about a share p of its entries is missing:

    at random    every entry with the same probability                                        (MCAR)
    by another   of half of the columns, more often where a column of the other half is large (MAR)
    by itself    more often where the entry itself is large                                   (MNAR)

The last two have probabilities p (0.4 + 1.2 r), r the rank of the value in [0, 1]: the largest is missing four times as
often as the smallest. Categories are ranked by name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from sidelight.datasets import load_mfeat, load_oil_flow

TUNING = ("wine", "diabetes", "iris", "seattle-weather", "stocks", "grunfeld", "barley", "elnino", "oil flow")
"""Tables on which candidates and constants of the engine were chosen."""
REPORTED = (
    "cars",
    "anes96",
    "modechoice",
    "randhie",
    "breast cancer",
    "mfeat mor",
    "digits",
    "macrodata",
    "us-employment",
    "statecrime",
)
"""Tables on which nothing was chosen."""
MECHANISMS = ("at random", "by another", "by itself")
_DATA = Path(__file__).parent / "data"
_TEST_TABLES = Path(__file__).parents[1] / "tests" / "tables" / "files"
_MOST_ROWS = 250


def table(name: str, seed: int = 0) -> pd.DataFrame:
    """Return a table of floats and of words (its categories), at most 250 rows of it, drawn by the seed."""
    frame = _whole(name)
    if len(frame) > _MOST_ROWS:
        frame = frame.sample(_MOST_ROWS, random_state=seed)
    frame = frame.reset_index(drop=True)
    frame = frame.loc[:, frame.nunique() > 1]
    return frame.astype({c: np.float64 for c in frame.columns if pd.api.types.is_numeric_dtype(frame[c])})


def categories(frame: pd.DataFrame) -> list[str]:
    """Names of the columns that hold words."""
    return [c for c in frame.columns if not pd.api.types.is_numeric_dtype(frame[c])]


def remove(frame: pd.DataFrame, share: float, mechanism: str, seed: int) -> np.ndarray[Any, Any]:
    """Mark the entries (n, d) to remove; every row keeps one, and every column two different values."""
    rng = np.random.default_rng(seed)
    n, d = frame.shape
    ranks = frame.rank(pct=True).to_numpy() - 0.5 / n
    chance = np.full((n, d), share)
    if mechanism == "by itself":
        chance = share * (0.4 + 1.2 * np.nan_to_num(ranks, nan=0.5))
    elif mechanism == "by another":
        order = rng.permutation(d)
        kept, gone = order[: d // 2], order[d // 2 :]
        chance[:, kept] = 0.0
        drivers = kept[rng.integers(len(kept), size=len(gone))]
        chance[:, gone] = share * (0.4 + 1.2 * np.nan_to_num(ranks[:, drivers], nan=0.5))
    hidden = (rng.random((n, d)) < chance) & frame.notna().to_numpy()
    for column in range(d):
        if frame.iloc[~hidden[:, column], column].nunique() < 2:
            hidden[:, column] = False
    hidden[~(frame.notna().to_numpy() & ~hidden).any(axis=1)] = False
    return np.asarray(hidden)


def entry_errors(filled: pd.DataFrame, truth: pd.DataFrame, hidden: Any) -> tuple[Any, Any]:
    """Squared errors of removed numbers, in variances of the column, and which of the removed categories are wrong."""
    words = categories(truth)
    squares, wrong = [np.empty(0)], [np.empty(0)]
    for j, name in enumerate(truth.columns):
        rows = hidden[:, j]
        if name in words:
            wrong.append((filled[name] != truth[name]).to_numpy()[rows].astype(np.float64))
        else:
            squares.append(((filled[name] - truth[name]) / truth[name].std(ddof=0)).to_numpy()[rows] ** 2)
    return np.concatenate(squares), np.concatenate(wrong)


def _whole(name: str) -> pd.DataFrame:
    bundled = {"wine": load_wine, "iris": load_iris, "breast cancer": load_breast_cancer}
    if name in bundled:
        found = bundled[name](as_frame=True)
        numbers = found.data.iloc[:, :13]  # of breast cancer: means, and the errors of three
        return numbers.assign(kind=found.target_names[found.target])
    if name == "diabetes":
        found = load_diabetes(as_frame=True, scaled=False)
        return found.frame.assign(sex=np.where(found.frame.sex > 1, "two", "one"))
    if name == "digits":
        return load_digits(as_frame=True).data.iloc[:, 24:40]
    if name == "oil flow":
        found = load_oil_flow()
        return _array(found.X).assign(flow=_words(found.factors["label"]))
    if name == "mfeat mor":
        found = load_mfeat("mor")
        return _array(found.X).assign(digit=_words(found.factors["label"]))
    return _READERS[name]()


def _array(X: Any) -> pd.DataFrame:
    return pd.DataFrame(np.asarray(X, dtype=np.float64), columns=[f"x{j}" for j in range(X.shape[1])])


def _words(values: Any) -> Any:
    """Levels as words; missing ones stay missing."""
    series = pd.Series(np.asarray(values)).reset_index(drop=True)
    return series.map(lambda value: f"level {value}", na_action="ignore").to_numpy()


def _cars() -> pd.DataFrame:
    frame = pd.read_csv(_TEST_TABLES / "cars.csv").drop(columns="Name")
    return frame.assign(Year=pd.to_datetime(frame.Year).dt.year, Cylinders=_words(frame.Cylinders))


def _weather() -> pd.DataFrame:
    frame = pd.read_csv(_TEST_TABLES / "seattle-weather.csv")
    angle = 2 * np.pi * pd.to_datetime(frame.date).dt.day_of_year / 365.25
    return frame.drop(columns="date").assign(winter=np.cos(angle), spring=np.sin(angle))


def _stocks() -> pd.DataFrame:
    frame = pd.read_csv(_TEST_TABLES / "stocks.csv")
    return frame.assign(date=pd.to_datetime(frame.date, format="%b %d %Y").astype("int64") / 86400e9)


def _anes96() -> pd.DataFrame:
    frame = pd.read_csv(_TEST_TABLES / "anes96.csv", sep="\t")
    frame.columns = [name.strip("'") for name in frame.columns]
    return frame.assign(popul=np.log(frame.popul + 0.1), vote=_words(frame.vote), PID=_words(frame.PID))


def _modechoice() -> pd.DataFrame:
    frame = pd.read_csv(_TEST_TABLES / "modechoice.csv", sep=";").drop(columns="individual")
    return frame.assign(mode=_words(frame["mode"]), choice=_words(frame.choice))


def _randhie() -> pd.DataFrame:
    frame = pd.read_csv(_DATA / "randhie.csv")
    health = np.select([frame.hlthg == 1, frame.hlthf == 1, frame.hlthp == 1], ["good", "fair", "poor"], "excellent")
    numbers = frame.drop(columns=["hlthg", "hlthf", "hlthp"])
    return numbers.assign(health=health, idp=_words(frame.idp), physlm=_words(frame.physlm.round()))


def _grunfeld() -> pd.DataFrame:
    return pd.read_csv(_DATA / "grunfeld.csv")


def _barley() -> pd.DataFrame:
    frame = pd.read_csv(_TEST_TABLES / "barley.csv")
    return frame.assign(year=_words(frame.year))


def _statecrime() -> pd.DataFrame:
    return pd.read_csv(_TEST_TABLES / "statecrime.csv").drop(columns="state")


_READERS = {
    "cars": _cars,
    "seattle-weather": _weather,
    "stocks": _stocks,
    "anes96": _anes96,
    "modechoice": _modechoice,
    "randhie": _randhie,
    "grunfeld": _grunfeld,
    "barley": _barley,
    "statecrime": _statecrime,
    "macrodata": lambda: pd.read_csv(_DATA / "macrodata.csv"),
    "elnino": lambda: pd.read_csv(_DATA / "elnino.csv"),
    "us-employment": lambda: pd.read_csv(_DATA / "us-employment.csv").drop(columns="month"),
}
