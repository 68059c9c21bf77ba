"""The methods of this library that ``sidelight embed --method`` offers, in families."""

from __future__ import annotations

from ._method import Method, PythonOnly

__all__ = ["OURS", "PYTHON_ONLY"]

_MAPS = "Maps of rows"
_KNOWN = "Maps that use what you know"
_DENSITIES = "Densities and clusters"
_NETWORKS = "Networks (extra torch)"

OURS = (
    Method(
        "kie", "sidelight", "KernelInformationEmbedding", "Kernel information embedding: smooth, two-way", family=_MAPS,
        use=(
            "the map has to do something after it is drawn: place new rows, be read backwards, score or draw "
            "rows, or leave out what is known"
        ),
        avoid=(
            "SemidefiniteEmbedding for one small sheet whose lengths should come out exactly, ProbabilisticPCA "
            "for straight data, UMAP when a picture of neighbours is all you want"
        ),
        example="table.csv --given batch",
    ),
    Method(
        "ukr", "sidelight", "UnsupervisedKernelRegression", "Kernel regression with the least reconstruction error",
        family=_MAPS,
        use="the way back to the data matters most: it minimises the error of reconstructed rows",
        avoid=(
            "KernelInformationEmbedding for more than some thousand rows, where something is known of them, or "
            "for a density"
        ),
    ),
    Method(
        "smoother", "sidelight", "SmootherEmbedding", "A map that a kernel smoother reconstructs, in closed form",
        family=_MAPS,
        use="you want a first look, a base line or a start without local optima: one eigenproblem",
        avoid="KernelInformationEmbedding when the map itself matters",
    ),
    Method(
        "hybrid", "sidelight", "HybridEmbedding", "Distances and neighbours at once, in closed form", family=_MAPS,
        use=(
            "rows have a distance of their own (a matrix, a learned metric, one that ignores shifts or turns) "
            "and neighbours should stay neighbours"
        ),
        avoid=(
            "Isomap when the plain distance is right and only lengths matter, KernelInformationEmbedding when "
            "there is no such distance"
        ),
        example="table.csv --set alpha=0.3",
    ),
    Method(
        "mds", "sidelight", "HybridEmbedding", "Classical multidimensional scaling, in closed form",
        {"metric": "euclidean", "alpha": 0}, family=_MAPS,
        use="distances between rows, or a matrix of them, should become a map in closed form",
        avoid=(
            "KernelInformationEmbedding or Isomap for curved data, mds-smacof to minimise the error of distances "
            "on the map itself"
        ),
    ),
    Method(
        "tangent", "sidelight", "HybridEmbedding", "Pictures by how they change under a transformation", family=_MAPS,
        use="pictures are shifted, rotated or filtered copies of a few",
        avoid="KernelInformationEmbedding for tables, and for pictures whose content matters more than their position",
        example="pictures/ --image-size 28x28 --set transformation=rotate",
    ),
    Method(
        "semidefinite", "sidelight", "SemidefiniteEmbedding", "Rows pulled apart as far as neighbours allow",
        family=_MAPS,
        use=(
            "rows are one bent sheet and its lengths, or its number of dimensions, should come out right, also "
            "from few rows"
        ),
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
            "for are the widest directions, KernelInformationEmbedding when something is known of the rows"
        ),
    ),
    Method(
        "ppca", "sidelight", "ProbabilisticPCA", "Principal components as a density", family=_MAPS,
        use="rows lie near a plane, entries are missing, or you need a likelihood",
        avoid=(
            "PPCAMixture or KNNImputer when rows are curved or in clusters, scikit-learn's PCA when rows are "
            "whole and only the projection is wanted"
        ),
    ),
    Method(
        "joint", "sidelight", "JointInformationEmbedding", "What two views share (--view-y), and one from the other",
        family=_KNOWN,
        use="the same things were seen in two ways and few of them are paired",
        avoid="kernel regression when most rows are paired and prediction is all you want",
        example="silhouettes.npy --view-y poses.csv",
    ),
    Method(
        "coordinated-cca", "sidelight", "CoordinatedCCA", "What two views share (--view-y), from planes in each",
        family=_KNOWN,
        use="two views of the same rows lie on curved sheets, and one is to be told from the other",
        avoid=(
            "KernelRidge when two complete views and a prediction are all there is, JointInformationEmbedding "
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
        "action", "sidelight", "ActionRespectingEmbedding", "A sequence in which every action is one rigid motion",
        family=_KNOWN,
        use=(
            "you have observations in order, what was done between them, and places that are come back to: it "
            "predicts steps that nobody took"
        ),
        avoid=(
            "PCA with one affine map per action when nothing is come back to and steps are small against noise, "
            "a model of dynamics of your own when you know the physics"
        ),
        example="drive.csv --actions action --trajectory run",
    ),
    Method(
        "ppca-mixture", "sidelight", "PPCAMixture", "A mixture of planes: clusters with local coordinates",
        family=_DENSITIES,
        use="you want a density of rows of numbers, or clusters with coordinates of their own",
        avoid=(
            "ProbabilisticPCA for fewer than a few dozen rows or one plane, Imputer for entries of a table, "
            "CoordinatedMixture for a map"
        ),
        example="table.csv --set n_charts=5",
    ),
    Method(
        "bernoulli-mixture", "sidelight", "BernoulliMixture", "A mixture of Bernoullis: clusters of 0/1 rows",
        family=_DENSITIES,
        use="rows are binary, and you want a density, clusters or hidden entries back",
        avoid="ridge regression when hidden entries are all you want",
        example="answers.csv --set n_charts=6 --no-standardize", dims="",
    ),
    Method(
        "autoencoder", "sidelight.gated", "Autoencoder", "Auto-encoder: a network to short codes and back",
        family=_NETWORKS, extra="torch",
        use="a curved code of few numbers should be a function of any new row",
        avoid="scikit-learn's PCA when a plane is enough: the linear auto-encoder is PCA",
        example='table.csv --set "hidden=(50, 20)"',
    ),
    Method(
        "rbm", "sidelight.gated", "RestrictedBoltzmannMachine", "Restricted Boltzmann machine: binary codes of rows",
        family=_NETWORKS, extra="torch", default_dims=50,
        use="you want binary features, a density up to a constant, and samples of rows",
        avoid="PCA when features are all you want",
        example="table.csv --dims 50",
    ),
    Method(
        "gated-boltzmann", "sidelight.gated", "GatedBoltzmannMachine", "How one row becomes another (--view-y)",
        family=_NETWORKS, extra="torch", dims="n_mapping", default_dims=50,
        use="pairs of rows should teach a change that is then done to other rows, with a density of outputs",
        avoid="GatedAutoencoder when no density is needed",
        example="before.npy --view-y after.npy",
    ),
    Method(
        "gated-autoencoder", "sidelight.gated", "GatedAutoencoder", "The same by an auto-encoder (--view-y)",
        family=_NETWORKS, extra="torch", dims="n_mapping", default_dims=20,
        use="pairs of rows should teach a change that is then done to other rows, or predicted",
        avoid="GatedBoltzmannMachine when a density of outputs is needed",
        example="before.npy --view-y after.npy",
    ),
    Method(
        "biased-autoencoder", "sidelight.gated", "BiasedAutoencoder", "Predict structured rows from others (--view-y)",
        family=_NETWORKS, extra="torch", default_dims=10,
        use="outputs with a structure of their own (shapes, poses, halves of pictures) are to be predicted",
        avoid="ridge regression when rows are few for their columns",
        example="inputs.csv --view-y outputs.csv",
    ),
)  # fmt: skip

PYTHON_ONLY = (
    PythonOnly(
        "gated-field",
        "takes pictures or sequences of any size, which no table holds",
        "sidelight.gated.GatedField(...).fit(before, after)",
    ),
    PythonOnly(
        "manifield",
        "takes sequences or pictures of any size, which no table holds",
        "sidelight.gated.Manifield(...).fit(inputs, outputs)",
    ),
    PythonOnly(
        "count-encoder",
        "makes residuals of counts, a step before another method",
        "sidelight.CountEncoder().fit_transform(counts)",
    ),
)
"""Public models that no file of rows can be given to."""
