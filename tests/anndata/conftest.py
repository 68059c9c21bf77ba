from __future__ import annotations

import pytest


@pytest.fixture
def cells():
    from anndata_cells import made_cells

    return made_cells()


@pytest.fixture(scope="session")
def fitted():
    """A reference and its model of both known columns."""
    from anndata_cells import made_cells

    from sidelight.anndata import embed

    reference = made_cells()
    return reference, embed(reference, given=("batch", "pct_mito"), max_iter=80)
