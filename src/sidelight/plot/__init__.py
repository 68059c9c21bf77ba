"""Pictures of an embedding, as matplotlib Axes.

Every function takes a fitted model (or plain arrays where that is enough) and an optional ``ax``, draws,
and returns the Axes. Nothing is shown, no setting is changed, and matplotlib is imported by the first call,
not by this module.

===========================  ============================================================================
:func:`scatter`              the map, coloured by a category or a number
:func:`density`              the density over the latent plane
:func:`forward_grid`         what the forward map makes of a lattice of latent points
:func:`thumbnails`           the pictures themselves, placed on the map without overlap
:func:`path`                 the objective and its terms along the annealing path
:func:`uncertainty`          the predictive variance over the latent plane
:func:`known_and_rest`       the map twice: coloured by what was given, and by the rest
:func:`counterfactual_grid`  rows as they would be under other values of what was given
:func:`relation_weights`     which axes each relation looks at, as a heat map
:func:`action_arrows`        the map with an arrow for every step, coloured by its action
:func:`drive`                the image robot's world and way, beside the learned map
:func:`write_drive`          the same as an animated GIF
:func:`spectrum`             how many dimensions the rows have, by the spectrum of a Gram matrix
:func:`filters`              weights as pictures
:func:`filter_field`         what a mapping unit of a gated machine ties each input pixel to
:func:`flow`                 where pixels go, as arrows
:func:`analogy`              pairs, other pictures, and these after the same change
:func:`attributions`         tables of sidelight.explain as bars, an image or a profile
:func:`reliability`          the map, coloured by how far each row can be believed
===========================  ============================================================================
"""

from ._annealing import path
from ._attributions import attributions
from ._counterfactual import counterfactual_grid
from ._drive import action_arrows, drive, write_drive
from ._forward import forward_grid
from ._gated import analogy, filter_field, filters, flow
from ._known_and_rest import known_and_rest
from ._relation_weights import relation_weights
from ._reliability import reliability
from ._scatter import scatter
from ._shading import density, uncertainty
from ._spectrum import spectrum
from ._thumbnails import thumbnails

__all__ = [
    "action_arrows",
    "analogy",
    "attributions",
    "counterfactual_grid",
    "density",
    "drive",
    "filter_field",
    "filters",
    "flow",
    "forward_grid",
    "known_and_rest",
    "path",
    "relation_weights",
    "reliability",
    "scatter",
    "spectrum",
    "thumbnails",
    "uncertainty",
    "write_drive",
]
