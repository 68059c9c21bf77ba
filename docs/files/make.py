"""Write the table of the tutorial: ``python docs/files/make.py`` (406 cars, as a German spreadsheet would export them).

From ``tests/tables/files/cars.csv`` (vega_datasets, MIT): a number for every car, decimal commas, weights with their
unit, dates as 31.12.1970. Every fourteenth car is kept back, as a new row, in ``new_cars.csv``.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "tests" / "tables" / "files" / "cars.csv"


def with_commas(numbers: pd.Series) -> pd.Series:
    return numbers.map(lambda value: "" if pd.isna(value) else f"{value:.1f}".replace(".", ","))


def in_kilograms(pounds: pd.Series) -> pd.Series:
    return (0.45359237 * pounds).round().map(lambda value: f"{value:,.0f} kg".replace(",", "."))


def exported() -> pd.DataFrame:
    cars = pd.read_csv(SOURCE)
    return pd.DataFrame(
        {
            "id": [f"C-{1000 + row}" for row in range(len(cars))],
            "car": cars["Name"],
            "miles_per_gallon": with_commas(cars["Miles_per_Gallon"]),
            "cylinders": cars["Cylinders"],
            "displacement": with_commas(cars["Displacement"]),
            "horsepower": cars["Horsepower"].map(lambda value: "" if pd.isna(value) else f"{value:.0f}"),
            "weight": in_kilograms(cars["Weight_in_lbs"]),
            "acceleration": with_commas(cars["Acceleration"]),
            "model_year": pd.to_datetime(cars["Year"]).dt.strftime("%d.%m.%Y"),
            "origin": cars["Origin"],
        }
    )


if __name__ == "__main__":
    table = exported()
    new = table.index % 14 == 7
    table[~new].to_csv(HERE / "cars.csv", sep=";", index=False, lineterminator="\n")
    table[new].to_csv(HERE / "new_cars.csv", sep=";", index=False, lineterminator="\n")
