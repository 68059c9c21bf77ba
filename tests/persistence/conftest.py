import persistence_standins as standins
import pytest

from sidelight.persistence import _tables


@pytest.fixture(autouse=True)
def known_standins(monkeypatch):
    for name in ("Shelf", "Hooked"):
        monkeypatch.setitem(_tables.ESTIMATORS, name, standins.__name__)
    for name in ("Span", "Grid"):
        monkeypatch.setitem(_tables.RECORDS, name, standins.__name__)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.sidelight"
