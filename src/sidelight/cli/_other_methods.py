"""Methods of other libraries that ``sidelight embed --method`` offers; ``TwoWayEmbedding`` makes them two-way."""

from __future__ import annotations

from ._method import Method

__all__ = ["OTHERS"]

_LINEAR = "Linear (scikit-learn)"
_MANIFOLD = "Manifolds (scikit-learn)"
_MORE = "Other libraries"
_DECOMPOSITION, _NEIGHBOURS = "sklearn.decomposition", "sklearn.manifold"

OTHERS = (
    Method(
        "pca", _DECOMPOSITION, "PCA", "Principal components: the widest linear shadow", family=_LINEAR,
        use="The first thing to try: exact, fast, and the best linear reconstruction.",
        avoid="For missing entries (ppca) and curved data (kie).",
    ),
    Method(
        "whitening", _DECOMPOSITION, "PCA", "Principal components at unit variance", {"whiten": True}, family=_LINEAR,
        use="All directions shall count alike, for example before distances are measured.",
        avoid="If narrow directions are noise: they are blown up.",
    ),
    Method(
        "factor-analysis", _DECOMPOSITION, "FactorAnalysis", "Linear factors, noise per column", family=_LINEAR,
        use="Columns with noise of their own, in different units.",
        avoid="If axes shall be ordered: they are arbitrary up to rotation.",
    ),
    Method(
        "ica", _DECOMPOSITION, "FastICA", "Independent components", {"whiten": "unit-variance"}, family=_LINEAR,
        use="Mixtures of independent sources that are not Gaussian: sounds, artefacts.",
        avoid="For Gaussian data: no axis is special there.",
    ),
    Method(
        "kernel-pca", _DECOMPOSITION, "KernelPCA", "Principal components after a kernel", {"kernel": "rbf"},
        family=_MANIFOLD,
        use="A kernel that is known to fit the data.",
        avoid="If the kernel's width would have to be guessed: set gamma, or use kie.",
    ),
    Method(
        "dictionary-learning", _DECOMPOSITION, "DictionaryLearning", "Sparse codes over a dictionary", family=_LINEAR,
        use="Rows that are a few of many parts.",
        avoid="For many rows: it is slow.",
    ),
    Method(
        "isomap", _NEIGHBOURS, "Isomap", "Distances along the sheet", family=_MANIFOLD,
        use="One sheet that can be unrolled flat.",
        avoid="For clusters, holes, and short cuts between layers.",
    ),
    Method(
        "lle", _NEIGHBOURS, "LocallyLinearEmbedding", "Locally linear embedding", family=_MANIFOLD,
        use="A densely sampled smooth sheet.",
        avoid="For noise and uneven sampling: the map collapses.",
    ),
    Method(
        "spectral", _NEIGHBOURS, "SpectralEmbedding", "Laplacian eigenmaps", family=_MANIFOLD,
        use="Before clustering; slow variation along a neighbourhood graph.",
        avoid="If distances on the map shall mean something.",
    ),
    Method(
        "mds-smacof", _NEIGHBOURS, "MDS", "Multidimensional scaling by stress majorisation (SMACOF)",
        {"n_init": 1, "init": "classical_mds"}, family=_MANIFOLD,
        use="All distances shall be kept as well as possible on the map itself, for up to some thousand rows.",
        avoid="For new rows (mds has an exact formula for them), and for many dimensions: large distances count most.",
    ),
    Method(
        "tsne", _NEIGHBOURS, "TSNE", "t-SNE: neighbours at the price of distances", family=_MANIFOLD,
        use="Clusters and neighbourhoods in many dimensions.",
        avoid="If distances between clusters, or sizes of clusters, are to be read from the map.",
        example="table.csv --set perplexity=20",
    ),
    Method(
        "umap", "umap", "UMAP", "UMAP: a fuzzy graph of neighbours", {"n_jobs": 1}, family=_MORE,
        use="As tsne, for more rows.",
        avoid="If distances between clusters are to be read from the map.",
    ),
    Method(
        "opentsne", "openTSNE.sklearn", "TSNE", "t-SNE, fast", family=_MORE,
        use="t-SNE of many rows.",
        avoid="As tsne.",
    ),
)  # fmt: skip
