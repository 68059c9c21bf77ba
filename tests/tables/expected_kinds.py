"""What each column of each table of ``files/`` must be understood as; a kind in brackets is left out."""

from __future__ import annotations

import functools
from pathlib import Path

import pandas as pd

FILES = Path(__file__).parent / "files"
PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
EXACT_NUMBERS = {"float_precision": "round_trip"} if PANDAS < (3, 1) else {}  # exact by itself from 3.1 on
ODD = {
    "german": {"sep": ";", "encoding": "latin-1"},
    "anes96": {"sep": "\t", "quotechar": "'"},
    "modechoice": {"sep": ";"},
    "accounts": {"dtype": {"zip": str}},
}
N, C, B, D, T, ID = "number", "category", "boolean", "date", "text", "(identifier)"

KINDS: dict[str, dict[str, str]] = {
    "accounts": {
        "account": ID, "revenue": N, "balance": N, "growth": N, "fee": N, "weight": N, "zip": C, "staff": N,
        "rating": "ordinal",
    },
    "anes96": {
        "popul": N, "TVnews": N, "selfLR": N, "ClinLR": N, "DoleLR": N, "PID": C, "age": N, "educ": N, "income": N,
        "vote": B,
    },
    "barley": {"yield": N, "variety": C, "year": N, "site": C},
    "burtin": {"Bacteria": ID, "Penicillin": N, "Streptomycin": N, "Neomycin": N, "Gram_Staining": C, "Genus": C},
    "cars": {
        "Name": T, "Miles_per_Gallon": N, "Cylinders": N, "Displacement": N, "Horsepower": N, "Weight_in_lbs": N,
        "Acceleration": N, "Year": D, "Origin": C,
    },
    "cities": {"city_id": ID, "population": N, "founded": N, "area_m2": N, "country": C},
    "co2": {"date": D, "co2": N},
    "crimea": {"date": D, "wounds": N, "other": N, "disease": N},
    "german": {
        "Kundennr": ID, "Größe": N, "Umsatz": N, "Anteil": N, "Anzahl": N, "Kauf": D, "Stadt": C, "Stammkunde": B,
    },
    "la-riots": {
        "first_name": ID, "last_name": T, "age": N, "gender": C, "race": C, "death_date": D, "address": T,
        "neighborhood": T, "type": C, "longitude": N, "latitude": N,
    },
    "longley": {
        "Obs": ID, "TOTEMP": N, "GNPDEFL": N, "GNP": N, "UNEMP": N, "ARMED": N, "POP": N, "YEAR": N,
    },
    "modechoice": {
        "individual": ID, "mode": N, "choice": B, "ttme": N, "invc": N, "invt": N, "gc": N, "hinc": N, "psize": N,
    },
    "ohlc": {"date": D, "open": N, "high": N, "low": N, "close": N, "signal": C, "ret": N},
    "orders": {"Unnamed: 0": ID, "time": D, "amount": N, "bytes": N, "wind_direction": "angle", "shop": C},
    "passengers": {
        "PassengerId": ID, "Survived": B, "Pclass": N, "Name": ID, "Sex": C, "Age": N, "SibSp": N, "Ticket": T,
        "Fare": N, "Cabin": T, "Embarked": C,
    },
    "seattle-weather": {"date": D, "precipitation": N, "temp_max": N, "temp_min": N, "wind": N, "weather": C},
    "statecrime": {
        "state": ID, "violent": N, "murder": N, "hs_grad": N, "poverty": N, "single": N, "white": N, "urban": N,
    },
    "stocks": {"symbol": C, "date": D, "price": N},
    "survey": {
        "response id": ID, "wave": "(constant)", "agreed": B, "opinion": "ordinal", "age group": "ordinal",
        "notes": "(empty)", "comment": T, "minutes": N,
    },
    "wages": {"rownames": ID, "wage": N, "education": N, "experience": N, "union": B, "region": C, "married": B},
    "wine": {
        "alcohol": N, "malic_acid": N, "ash": N, "alcalinity_of_ash": N, "magnesium": N, "total_phenols": N,
        "flavanoids": N, "nonflavanoid_phenols": N, "proanthocyanins": N, "color_intensity": N, "hue": N,
        "od280/od315_of_diluted_wines": N, "proline": N, "target": C,
    },
}  # fmt: skip


@functools.cache
def _table(name: str) -> pd.DataFrame:
    return pd.read_csv(FILES / f"{name}.csv", **EXACT_NUMBERS, **ODD.get(name, {}))


def table(name: str) -> pd.DataFrame:
    """A table as pandas reads it."""
    return _table(name).copy()
