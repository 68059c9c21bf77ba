"""Memory and time of coordinated fits, from times measured on one processor (docs/decisions/0040)."""

from __future__ import annotations

from sidelight.base.cost import Cost

__all__ = ["chart_cost", "kernel_cost"]


_SAMPLE, _WIDE, _COMPONENTS = 5_000, 64, 50  # as in _coordinated_charts.py
_TRIED, _TRIED_VIEWS = 40, 45  # charts of all numbers that a search tries, for one view and for each of several
_JUDGED, _JUDGED_VIEWS = 1.5e-4, 1e-3  # seconds a row of all else that a search does
_FULL = 400  # rows up to which a search takes time in proportion to them
_STEPS = 60  # EM steps of one mixture


def chart_cost(n: int, d: int, n_charts: int | str, n_components: int, n_mixtures: int, n_views: int) -> Cost:
    """Cost of fitting and gluing charts of n rows with d columns, the views together."""
    auto, own = isinstance(n_charts, str), d / n_views
    own = float(_COMPONENTS) if auto and own > _WIDE else own
    k = n_charts if not isinstance(n_charts, str) else 40 if n_views == 1 else 20
    size = n_views * n_mixtures * k * (n_components + 1)
    m, mixtures = min(n, _SAMPLE), n_views * n_mixtures
    tried, judged = (_TRIED, _JUDGED) if n_views == 1 else (_TRIED_VIEWS, _JUDGED_VIEWS)
    full = min(m, _FULL) + 0.15 * max(m - _FULL, 0)  # later trials of a search end sooner where rows are many
    search = full * (tried * (2e-5 + 8e-7 * own) * mixtures + judged) if auto else 2e-4 * m
    steps = 0 if auto and n <= _SAMPLE else _STEPS * mixtures
    seconds = 0.1 + search + steps * n * (1e-10 * k * own**2 + 2e-8 * k) + n * 2e-9 * size**2 + 5e-9 * size**3
    copies = 1 if n_views == 1 else 2
    return Cost(int(8 * n * (copies * d + n_components) + 32 * (size + (copies - 1) * d) ** 2 + 2**27), float(seconds))


def kernel_cost(n: int, d: int, n_views: int) -> Cost:
    """Cost of the kernel regressions from view to view."""
    centres = n if n <= 3_000 else 2_000 if n <= 20_000 else 1_000
    chosen = 2e-9 * min(n, 500) ** 3
    each = chosen + 1e-10 * centres**3 + (0.0 if centres == n else 1e-10 * n * centres**2)
    return Cost(int(8 * (4 * centres**2 + n_views * centres * d)), float(n_views * each))
