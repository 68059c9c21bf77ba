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
        use="The default: a smooth map of curved data that goes both ways; the only one that takes --given.",
        avoid="For straight data (use ppca: it is faster and exact), or if only neighbours matter (tsne, umap).",
        example="table.csv --given batch",
    ),
    Method(
        "ukr", "sidelight", "UnsupervisedKernelRegression", "Kernel regression with the least reconstruction error",
        family=_MAPS,
        use="The way back to the data matters most: it minimises the error of reconstructed rows.",
        avoid="For more than some thousand rows, or for a quick look: kie is faster and finds neighbourhoods as well.",
    ),
    Method(
        "smoother", "sidelight", "SmootherEmbedding", "A map that a kernel smoother reconstructs, in closed form",
        family=_MAPS,
        use="One eigenproblem, no local optima: a start for ukr, or a first look at a sheet.",
        avoid="For clusters far apart: neighbours within a cluster then say nothing of the distances between them.",
    ),
    Method(
        "hybrid", "sidelight", "HybridEmbedding", "Distances and neighbours at once, in closed form", family=_MAPS,
        use="Distances along a sheet and closeness of neighbours shall both be kept; the weight is alpha.",
        avoid="For clusters without a path between them: geodesic distances across the gap are guesses.",
        example="table.csv --set alpha=0.3",
    ),
    Method(
        "mds", "sidelight", "HybridEmbedding", "Classical multidimensional scaling, in closed form",
        {"metric": "euclidean", "alpha": 0}, family=_MAPS,
        use="Distances between rows, or a matrix of them (--distances-matrix), as a map; the same for every seed.",
        avoid="For curved data (kie, isomap). To minimise the error of distances on the map itself use mds-smacof.",
    ),
    Method(
        "tangent", "sidelight", "HybridEmbedding", "Pictures by how they change under a transformation", family=_MAPS,
        use="Pictures that are shifted, rotated or filtered copies of a few: rows that change alike are near.",
        avoid="For tables, and for pictures whose content matters more than their position.",
        example="pictures/ --image-size 28x28 --set transformation=rotate",
    ),
    Method(
        "semidefinite", "sidelight", "SemidefiniteEmbedding", "Rows pulled apart as far as neighbours allow",
        family=_MAPS,
        use="To learn how many dimensions a sheet has (the spectrum), with a certificate of the optimum.",
        avoid="For noisy data with short cuts between layers, and for more than a few thousand rows.",
    ),
    Method(
        "coordinated", "sidelight", "CoordinatedMixture", "Many small planes glued to one map; any number of rows",
        family=_MAPS,
        use="Many rows on one curved sheet: cost grows linearly with their number.",
        avoid="For few rows (each plane needs some tens) and for separate clusters.",
    ),
    Method(
        "ppca", "sidelight", "ProbabilisticPCA", "Principal components as a density", family=_MAPS,
        use="Straight data, missing entries, an unknown number of dimensions, a log density of rows.",
        avoid="For curved data: compare its reconstruction with that of kie.",
    ),
    Method(
        "joint", "sidelight", "JointInformationEmbedding", "What two views share (--view-y), and one from the other",
        family=_KNOWN,
        use="The same things seen twice, also where only some rows are paired; predict one view from the other.",
        avoid="If one view is a label or a number to be factored out (--given) or brought out (--relation).",
        example="silhouettes.npy --view-y poses.csv",
    ),
    Method(
        "coordinated-cca", "sidelight", "CoordinatedCCA", "What two views share (--view-y), from planes in each",
        family=_KNOWN,
        use="Two views of many rows: canonical correlation that follows curved sheets.",
        avoid="For few rows; use joint.",
        example="first.csv --view-y second.csv",
    ),
    Method(
        "relational", "sidelight", "MultipleRelationalEmbedding", "Several relations (--relation), an axis for each",
        family=_KNOWN,
        use="Axes with a meaning: rows alike in a column are near along the axes of that column, known of all or some.",
        avoid="To remove what is known from a map; that is --given. To predict a label or a value: use a classifier.",
        example="faces.npz --relation light --relation pan --dims 3",
    ),
    Method(
        "action", "sidelight", "ActionRespectingEmbedding", "A sequence in which every action is one rigid motion",
        family=_KNOWN,
        use="Observations in temporal order, and what was done at each (--actions): a map to plan in.",
        avoid="For rows without an order, and for more than a thousand different observations without noise.",
        example="drive.csv --actions action --trajectory run",
    ),
    Method(
        "ppca-mixture", "sidelight", "PPCAMixture", "A mixture of planes: clusters with local coordinates",
        family=_DENSITIES,
        use="Clusters, each flat in its own directions; missing entries; a density of rows.",
        avoid="For a picture of all rows: it has no common map (use coordinated).",
        example="table.csv --set n_charts=5",
    ),
    Method(
        "bernoulli-mixture", "sidelight", "BernoulliMixture", "A mixture of Bernoullis: clusters of 0/1 rows",
        family=_DENSITIES,
        use="Clusters of rows of 0s and 1s (or above and below a threshold: --set binarize=0.5).",
        avoid="For quantities, and for a picture of all rows: it has no map.",
        example="answers.csv --set n_charts=6 --no-standardize", dims="",
    ),
    Method(
        "autoencoder", "sidelight.gated", "Autoencoder", "Auto-encoder: a network to short codes and back",
        family=_NETWORKS, extra="torch",
        use="Many rows and a map that shall be one function of the columns, fast for new rows.",
        avoid="For few rows, and where the same map is wanted from another seed.",
        example='table.csv --set "hidden=(50, 20)"',
    ),
    Method(
        "rbm", "sidelight.gated", "RestrictedBoltzmannMachine", "Restricted Boltzmann machine: binary codes of rows",
        family=_NETWORKS, extra="torch", default_dims=50,
        use="Features of many rows: probabilities of hidden units, and a density up to a constant.",
        avoid="For a picture: its codes have many dimensions.",
        example="table.csv --dims 50",
    ),
    Method(
        "gated-boltzmann", "sidelight.gated", "GatedBoltzmannMachine", "How one row becomes another (--view-y)",
        family=_NETWORKS, extra="torch", dims="n_mapping", default_dims=50,
        use="Pairs of rows, before and after: codes of the change, which can be applied to other rows.",
        avoid="Without pairs, and to predict the second row from the first alone.",
        example="before.npy --view-y after.npy",
    ),
    Method(
        "gated-autoencoder", "sidelight.gated", "GatedAutoencoder", "The same by an auto-encoder (--view-y)",
        family=_NETWORKS, extra="torch", dims="n_mapping", default_dims=20,
        use="As gated-boltzmann, trained by gradients of a loss: smoother, and able to predict.",
        avoid="Without pairs, and where a density of the outputs is needed.",
        example="before.npy --view-y after.npy",
    ),
    Method(
        "biased-autoencoder", "sidelight.gated", "BiasedAutoencoder", "Predict structured rows from others (--view-y)",
        family=_NETWORKS, extra="torch", default_dims=10,
        use="Outputs with a structure of their own (shapes, poses): predictions are projected onto it.",
        avoid="Without pairs, and for a map: it predicts.",
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
