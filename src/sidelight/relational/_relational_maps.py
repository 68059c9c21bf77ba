"""The maps of a multiple relational embedding, as one value: to and from the features of each of its data relations.

backward  z(x) = Σ_j w_j(x) z_j     over the rows of the relation whose features x has, exact at those
forward   x(z) = Σ_j w_j(z) x_j     axes that belong to relations to be ignored are collapsed first (S0 4.3.1)

With weights that adapt to the neighbourhood, their perplexity chosen by leave-one-out error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sidelight.base.types import Array
from sidelight.maps.frames import Frame
from sidelight.maps.interpolation import interpolate
from sidelight.maps.kernel_map import adaptive_map
from sidelight.maps.parzen import ParzenDensity, neighbourhood_density
from sidelight.maps.two_way import LISTED, TwoWayMaps
from sidelight.maps.views import ViewMaps
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.neighbours.search import nearest

__all__ = ["RelationalMaps", "relational_maps"]


@dataclass(frozen=True)
class RelationalMaps:
    """Maps between one latent space and the features of several data relations.

    Parameters
    ----------
    latent_frame : Frame
        Centring and scaling of latent points before kernels are evaluated.
    latent_density : ParzenDensity
        Density of the latent points, in units of their frame.
    views : dict of name to ViewMaps
        The maps of each data relation; none where relations have no features.
    """

    latent_frame: Frame
    latent_density: ParzenDensity
    views: Mapping[str, ViewMaps]

    def embed(self, relation: str, X: Array, n_jobs: int | None) -> Array:
        """Latent points (m, q) of rows with the features of a relation."""
        view = self.views[relation]
        return self.latent_frame.outside(view.backward(view.frame.points(X), n_jobs))

    def reconstruct(self, relation: str, Z: Array, n_jobs: int | None, *, kept: Array | None = None) -> Array:
        """Features (m, d) of a relation at latent points, by the conditional mean.

        Parameters
        ----------
        relation : str
        Z : array of shape (m, q)
        n_jobs : int or None
            Threads.
        kept : array of shape (q,) or None, default=None
            How much of each axis counts; None: all.
        """
        view = self.views[relation]
        inside, forward = self.latent_frame.inside(Z), view.forward
        if kept is not None:
            inside, forward = inside * kept, adaptive_map(view.backward.outputs * kept, forward.outputs, n_jobs=n_jobs)
        return view.frame.outside(forward(inside, n_jobs))

    def two_way(self, relation: str) -> TwoWayMaps:
        """The maps of one relation alone."""
        view = self.views[relation]
        return TwoWayMaps(view.frame, self.latent_frame, view.backward, self.latent_density, view.forward, view.density)


def relational_maps(spaces: Mapping[str, tuple[Array, Array]], Z: Array, *, n_jobs: int | None) -> RelationalMaps:
    """Fit the maps of an embedding.

    Parameters
    ----------
    spaces : dict of name to (features, rows)
        Features (m, d) of each data relation, and the row numbers (m,) that they are of.
    Z : array of shape (n, q)
        Latent points of all rows.
    n_jobs : int or None
        Threads.
    """
    latent_frame = Frame.of(Z)
    latent = latent_frame.inside(Z)
    views = {name: _view_maps(X, latent[rows], n_jobs) for name, (X, rows) in spaces.items()}
    near = nearest(latent, k=min(LISTED, len(latent) - 1), n_jobs=n_jobs)
    return RelationalMaps(latent_frame, neighbourhood_density(latent, near.distance), views)


def _view_maps(X: Array, latent: Array, n_jobs: int | None) -> ViewMaps:
    """Maps both ways between features (m, d) and latent points (m, q) of their rows; equal rows are averaged."""
    frame = Frame.of(X)
    points = frame.points(X)
    k = min(LISTED, len(X) - 1)
    near = nearest(points, k=k, n_jobs=n_jobs)
    one_place = group_means(latent, equal_row_groups(points))
    backward = interpolate(adaptive_map(points, one_place, lists=near.index), n_jobs=n_jobs)
    forward = adaptive_map(latent, points, n_jobs=n_jobs)
    return ViewMaps(frame, backward, forward, neighbourhood_density(points, near.distance))
