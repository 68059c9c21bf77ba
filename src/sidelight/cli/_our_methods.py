"""The methods of this library that ``sidelight embed --method`` offers, in families."""

from __future__ import annotations

from ._method import Method, PythonOnly

__all__ = ["OURS", "PYTHON_ONLY"]

_MAPS = "Maps of rows"
_KNOWN = "Maps with side information"
_DENSITIES = "Densities and clusters"
_NETWORKS = "Networks (extra torch)"

OURS = (
    Method(
        "kie", "sidelight", "KernelInformationEmbedding", "Kernel information embedding: smooth, two-way",
        family=_MAPS,
        use=(
            "you need more than a picture: embedding new rows, mapping latent points back to data, scoring or "
            "sampling rows, or factoring out known variables (given=)"
        ),
        avoid=(
            "SemidefiniteEmbedding for one small sheet whose lengths must be reproduced exactly, ProbabilisticPCA for "
            "data that is linear, UMAP when a picture of neighbourhoods is enough"
        ),
        example="table.csv --given batch",
    ),
    Method(
        "ukr", "sidelight", "UnsupervisedKernelRegression", "Kernel regression with the lowest reconstruction error",
        family=_MAPS,
        use="reconstruction matters most: it minimises the error of inverse_transform",
        avoid="KernelInformationEmbedding for more than a few thousand rows, to use side information, or for a density",
    ),
    Method(
        "smoother", "sidelight", "SmootherEmbedding", "Spectral smoother embedding, in closed form",
        family=_MAPS,
        use="you want a first look, a baseline or a start without local optima: it solves one eigenproblem",
        avoid="KernelInformationEmbedding when the map itself matters",
    ),
    Method(
        "hybrid", "sidelight", "HybridEmbedding", "Distances and neighbourhoods together, in closed form", family=_MAPS,
        use=(
            "you have a special distance between rows (a precomputed matrix, a learned metric, one that is invariant "
            "to shifts or rotations) and want to preserve neighbourhoods too"
        ),
        avoid=(
            "Isomap when the Euclidean distance is right and only lengths matter, KernelInformationEmbedding when "
            "there is no such distance"
        ),
        example="table.csv --set alpha=0.3",
    ),
    Method(
        "mds", "sidelight", "HybridEmbedding", "Classical multidimensional scaling, in closed form",
        {"metric": "euclidean", "alpha": 0}, family=_MAPS,
        use="distances between rows, or a matrix of them, should become a map in closed form",
        avoid=(
            "KernelInformationEmbedding or Isomap for curved data, mds-smacof to minimise the error of distances on "
            "the map itself"
        ),
    ),
    Method(
        "tangent", "sidelight", "HybridEmbedding", "Images compared by their change under a transformation",
        family=_MAPS,
        use="images are shifted, rotated or filtered copies of a few",
        avoid="KernelInformationEmbedding for tables, and for images whose content matters more than their position",
        example="pictures/ --image-size 28x28 --set transformation=rotate",
    ),
    Method(
        "semidefinite", "sidelight", "SemidefiniteEmbedding", "Semidefinite embedding (maximum variance unfolding)",
        family=_MAPS,
        use="the data is one bent sheet and you need its lengths or its number of dimensions, also from few rows",
        avoid=(
            "KernelInformationEmbedding for clusters, for noise that joins the layers, and for more than a few "
            "thousand rows"
        ),
    ),
    Method(
        "coordinated", "sidelight", "CoordinatedMixture", "Many small planes glued to one map; any number of rows",
        family=_MAPS,
        use="rows lie on a curved sheet, come in batches or are too many for memory, and the map must go both ways",
        avoid=(
            "Isomap or LLE when a picture is all you want or a fit must be fast, PCA when the factors that you look "
            "for are the widest directions, KernelInformationEmbedding when you know a factor of the rows"
        ),
    ),
    Method(
        "ppca", "sidelight", "ProbabilisticPCA", "Probabilistic PCA: principal components with a density", family=_MAPS,
        use="rows lie near a plane, entries are missing, or you need a likelihood",
        avoid=(
            "PPCAMixture or KNNImputer when the data is curved or clustered, scikit-learn's PCA when rows are "
            "complete and you only need the projection"
        ),
    ),
    Method(
        "joint", "sidelight", "JointInformationEmbedding", "Shared structure of two views (--view-y), and prediction",
        family=_KNOWN,
        use="the same objects were measured in two views and few rows are paired",
        avoid="kernel regression when most rows are paired and you only need predictions",
        example="silhouettes.npy --view-y poses.csv",
    ),
    Method(
        "coordinated-cca", "sidelight", "CoordinatedCCA", "What two views share (--view-y), from planes in each",
        family=_KNOWN,
        use="two views of the same rows lie on curved sheets, and you want to predict one from the other",
        avoid=(
            "KernelRidge when you have two complete views and only want a prediction, JointInformationEmbedding "
            "when few rows are paired"
        ),
        example="first.csv --view-y second.csv",
    ),
    Method(
        "relational", "sidelight", "MultipleRelationalEmbedding", "Several relations (--relation), an axis for each",
        family=_KNOWN,
        use="axes should mean something and some rows are labelled",
        avoid=(
            "a classifier or a regression when the prediction is all you want, KernelInformationEmbedding to "
            "take out what is known"
        ),
        example="faces.npz --relation light --relation pan --dims 3",
    ),
    Method(
        "action", "sidelight", "ActionRespectingEmbedding", "Sequence map in which every action is one rigid motion",
        family=_KNOWN,
        use=(
            "you have a sequence of observations, the actions between them, and a path that revisits places: it "
            "predicts actions that were not tried at a place"
        ),
        avoid=(
            "PCA with one affine map per action when no place is revisited and steps are small compared to noise, "
            "your own dynamics model when you know the physics, dead reckoning or a map without actions when "
            "observations do not show that a place is visited again"
        ),
        example="drive.csv --actions action --trajectory run",
    ),
    Method(
        "ppca-mixture", "sidelight", "PPCAMixture", "A mixture of planes: clusters with local coordinates",
        family=_DENSITIES,
        use="you want the density of numeric rows, or clusters with local coordinates",
        avoid=(
            "ProbabilisticPCA for fewer than a few dozen rows or data near one plane, Imputer to fill entries of a "
            "table, CoordinatedMixture for one global map"
        ),
        example="table.csv --set n_charts=5",
    ),
    Method(
        "bernoulli-mixture", "sidelight", "BernoulliMixture", "Bernoulli mixture: clusters of 0/1 rows",
        family=_DENSITIES,
        use="rows are binary, and you want a density, clusters or imputed entries",
        avoid="ridge regression when you only want to impute",
        example="answers.csv --set n_charts=6 --no-standardize", dims="",
    ),
    Method(
        "autoencoder", "sidelight.gated", "Autoencoder", "Auto-encoder: short codes by a network",
        family=_NETWORKS, extra="torch",
        use="you want a nonlinear code of few dimensions that is a function of any new row",
        avoid="scikit-learn's PCA when a linear code is enough: the linear auto-encoder is PCA",
        example='table.csv --set "hidden=(50, 20)"',
    ),
    Method(
        "rbm", "sidelight.gated", "RestrictedBoltzmannMachine", "Restricted Boltzmann machine: binary codes of rows",
        family=_NETWORKS, extra="torch", default_dims=50,
        use="you want binary features, an unnormalised density, and samples of rows",
        avoid="PCA when you only want features",
        example="table.csv --dims 50",
    ),
    Method(
        "gated-boltzmann", "sidelight.gated", "GatedBoltzmannMachine", "Transformations from rows to rows (--view-y)",
        family=_NETWORKS, extra="torch", dims="n_mapping", default_dims=50,
        use=(
            "you want to learn transformations from pairs of rows and apply them to other rows, with a density of "
            "outputs"
        ),
        avoid="GatedAutoencoder when no density is needed",
        example="before.npy --view-y after.npy",
    ),
    Method(
        "gated-autoencoder", "sidelight.gated", "GatedAutoencoder", "Gated auto-encoder: transformations (--view-y)",
        family=_NETWORKS, extra="torch", dims="n_mapping", default_dims=20,
        use="you want to learn transformations from pairs of rows and apply them to other rows, or predict them",
        avoid="GatedBoltzmannMachine when a density of outputs is needed",
        example="before.npy --view-y after.npy",
    ),
    Method(
        "biased-autoencoder", "sidelight.gated", "BiasedAutoencoder", "Predict structured outputs from rows (--view-y)",
        family=_NETWORKS, extra="torch", default_dims=10,
        use="you want to predict structured outputs (shapes, poses, halves of images)",
        avoid="ridge regression when rows are few relative to columns",
        example="inputs.csv --view-y outputs.csv",
    ),
)  # fmt: skip

PYTHON_ONLY = (
    PythonOnly(
        "gated-field",
        "takes images or sequences of any size, not a table",
        "sidelight.gated.GatedField(...).fit(before, after)",
    ),
    PythonOnly(
        "manifield",
        "takes sequences or images of any size, not a table",
        "sidelight.gated.Manifield(...).fit(inputs, outputs)",
    ),
    PythonOnly(
        "count-encoder",
        "computes residuals of counts, a preprocessing step",
        "sidelight.CountEncoder().fit_transform(counts)",
    ),
)
"""Public models whose input is not a table."""
