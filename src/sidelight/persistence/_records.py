"""What each dataclass in a model file holds, field by field, in the language of ``_schema.py``.

The types of fields come from their annotations: a line is needed for arrays, ranges and what belongs together.
Sizes: n rows that a map knows, N rows of the fit, d columns, q latent dimensions; in a map from a to b columns.
"""

from __future__ import annotations

from sidelight.kernels.profiles import PROFILES
from sidelight.tables._column_fill import SOURCES
from sidelight.tables._column_kinds import KINDS
from sidelight.tables._table_columns import STORED
from sidelight.unfolding._measured_rows import METRICS

__all__ = ["KERNEL", "RECORD_TABLES"]

KERNEL = "choice:" + "|".join(PROFILES)
_ACTIVATION = "choice:linear|sigmoid|tanh|relu"
_LOSS = "choice:squared|cross-entropy|multinomial"
_UNITS = "choice:binary|gaussian|gaussian-learned|poisson|multinomial"
_KERNEL_SPAN = {
    "centre": "float (d)",
    "scale": "positive",
    "rows": "float (n, d)",
    "axes": "float (n, p)",
    "means": "float (n)",
    "gamma": "number",
    "degree": "count",
}

RECORD_TABLES: dict[str, dict[str, str]] = {
    # between data and latent space
    "Frame": {"centre": "float (a|1)", "scale": "positive"},
    "MeasuredFrame": {
        "data": "record a=a",
        "rows": "float (n, a)",
        "metric": f"choice:{'|'.join(METRICS)} / function",
        "unit": "positive",
    },
    "TruncatedBasis": {"mean": "float (D)", "basis": "float (D, a)"},
    "TruncatedFrame": {"inner": "record a=a", "reduction": "record a=a"},
    "FixedWeights": {"inputs": "float (n, a)", "bandwidth": "positive", "kernel": KERNEL},
    "AdaptiveWeights": {"inputs": "float (n, a)", "lists": "index:n (n, k)", "perplexity": "positive"},
    "PrecomputedWeights": {"n_candidates": "count", "perplexity": "positive"},
    "KernelMap": {"weights": "record n=n a=a", "outputs": "float (n, b)"},
    "Correction": {"residuals": "float (n, b)", "falloff": "float (n)"},
    "InterpolatingMap": {"mean": "record n=n a=a b=b", "correction": "record n=n b=b"},
    "ParzenDensity": {"points": "float (n, a)", "bandwidths": "float (n)", "kernel": KERNEL},
    "LinearMaps": {"mean": "float (a)", "to_latent": "float (a, b)", "to_data": "float (b, a)"},
    "KernelProjection": {
        "rows": "float (n, a)",
        "vectors": "float (n, b)",
        "means": "float (n)",
        "mean": "number",
        "kernel": "choice:linear|rbf|poly|sigmoid|cosine|paths",
        "gamma": "number",
        "degree": "number",
        "coef0": "number",
        "paths": "?float (n, n)",
        "n_neighbors": "count",
    },
    "ViewMaps": {
        "frame": "record a=d",
        "backward": "record a=d b=q",
        "forward": "record n=n a=q b=d",
        "density": "record n=n a=d",
    },
    "NystromMap": {
        "points": "float (n, a)",
        "vectors": "float (n, q)",
        "values": "float (q)",
        "scale": "float (q)",
        "gain": "float (g, q)",
        "offset": "float (g)",
        "paths": "float (g, n) / float (0, n)",
        "constant": "float (q)",
        "pull": "number",
        "locality": "choice:laplacian|lle",
        "heat": "number",
        "lists": "index-:n (n, *)",
        "n_neighbors": "count",
    },
    "LocalFill": {
        "rows": "float (n, d)",
        "observed": "bool (n, d)",
        "perplexity": "positive",
        "rank": "count",
        "n_rounds": "count",
        "centre": "number / float (d)",
        "scale": "positive",
    },
    "EntryModel": {
        "density": "record d=d",
        "centre": "float (d)",
        "scale": "float (d)",
        "factor": "positive",
        "errors": "float (e)",
    },
    "Blend": {"gaussian": "record d=d", "others": "list record d=d", "weights": "float (k)"},
    "ForestFill": {"base": "record d=d", "forests": "list record d=d"},
    "Forest": {
        "columns": "index:d (c)",
        "inputs": "index:d (p)",
        "feature": "index:p (v)",
        "left": "index:v (v)",
        "right": "index:v (v)",
        "roots": "index:v (t)",
        "threshold": "float (v)",
        "mean": "float (v, c)",
        "square": "float (v, c)",
        "depth": "count",
    },
    "LinearGaussianMaps": {
        "model": "record d=d",
        "gaussian": "?record d=d",
        "centre": "float (d)",
        "scale": "float (d)",
    },
    # parameters with their options: plain types, which the annotations check
    "Annealing": {},
    "Conditioning": {},
    "KernelOptions": {},
    "Missing": {},
    # what is known
    "Column": {
        "kind": "choice:category|number|angle",
        "centre": "number",
        "scale": "positive",
        "bandwidth": "positive",
        "matrix": "?float (c, c)",
    },
    "SideKernel": {"scales": "float (*)", "starts": "list count", "matrices": "list float (*, *)"},
    "Given": {"columns": "list record"},
    "Effect": {
        "landmarks": "float (*, *)",
        "bandwidth": "number",
        "coefficients": "float (c, b)",
        "local": "?record b=b c=c",
        "columns": "?int (*)",
        "further": "?record b=b",
    },
    "LocalOffsets": {"centres": "float (p, b)", "offsets": "float (p, c, b)", "width": "positive"},
    "AdaptedRows": {
        "points": "float (m, d)",
        "places": "float (m, q)",
        "bandwidths": "float (m)",
        "features": "float (m, *)",
    },
    "ChangeModel": {
        "groups": "float (c, *)",
        "content": "float (n, r)",
        "coefficients": "float (*, d)",
        "axes": "float (d, k)",
        "scales": "float (c, *)",
        "kept": "number",
        "correlation": "number",
        "variance": "float (c, d)",
        "local": "float (n, 1)",
        "unseen_variance": "float (d)",
        "factor": "positive",
    },
    "Actions": {"n_samples": "count:n", "steps": "index:n (m, 2)", "codes": "int (m)"},
    "Relation": {"kind": "choice:data|labels|values|pairs|matrix", "n_samples": "?count:n", "index": "index:n (m)"},
    "Relations": {"by_name": "dict record"},
    # mixtures and their coordination
    "Gaussian": {"mean": "float (d)", "covariance": "float (d, d)", "precision": "float (d, d)"},
    "LinearGaussian": {"mean": "float (d)", "W": "float (d, q)", "noise": "number", "spread": "?float (d, *)"},
    "Planes": {"floor": "number"},
    "Gaussians": {"target": "float (d, d)", "strength": "positive", "floor": "number", "share": "positive"},
    "PlaneCharts": {
        "centre": "float (d)",
        "scale": "positive",
        "weights": "float (k)",
        "charts": "list:k record d=d",
        "columns": "?float (d)",
        "widths": "?float (d)",
        "outside": "number",
    },
    "LeadingComponents": {"centre": "float (d)", "axes": "float (d, r)", "noise": "positive"},
    "ReducedCharts": {"components": "record d=d r=r", "charts": "record d=r"},
    "GaussianCharts": {
        "weights": "float (k)",
        "means": "float (k, d)",
        "whiteners": "float (k, d, d)",
        "axes": "list:k float (d, *)",
    },
    "BernoulliCharts": {
        "weights": "float (k)",
        "means": "float (k, d)",
        "axes": "list:k float (d, *)",
        "inverse": "list:k float (d, *)",
    },
    "ChartedView": {
        "charts": "record d=d",
        "columns": "index:D (d)",
        "centre": "float (d)",
        "scale": "positive",
        "view": "count",
    },
    "LatentCharts": {
        "weights": "float (k)",
        "centres": "float (k, q)",
        "covariances": "float (k, q, q)",
        "local_means": "list:k float (*)",
        "gains": "list:k float (*, q)",
    },
    "CoordinatedMap": {
        "views": "list record D=D",
        "maps": "list:k float (*, q)",
        "latent": "record k=k q=q",
        "residuals": "list float (*, *)",
        "smoothing": "number",
    },
    "Regression": {"origin": "float (p)", "slopes": "float (p, e)", "mean": "float (e)", "error": "number~"},
    "KernelShape": {"origin": "float (p)", "units": "float (p)", "gamma": "positive", "penalty": "positive"},
    "KernelRegression": {
        "view": "count",
        "shape": "record p=p",
        "centres": "float (m, p)",
        "coefficients": "float (m, e)",
        "mean": "float (e)",
        "error": "number",
    },
    "CrossView": {
        "views": "list record D=D",
        "sums": "dict float",
        "full": "list record",
        "smoothing": "number",
        "kernels": "list record",
    },
    # networks
    "AutoencoderArchitecture": {"n_components": "positive", "activation": _ACTIVATION, "loss": _LOSS},
    "BiasedArchitecture": {"activation": _ACTIVATION, "loss": _LOSS},
    "GatedArchitecture": {"n_mapping": "positive", "activation": _ACTIVATION, "loss": _LOSS},
    "RestrictedArchitecture": {"n_components": "positive", "visible": _UNITS, "hidden": _UNITS},
    "GatedMachineArchitecture": {"n_mapping": "positive", "visible": _UNITS, "mapping": _UNITS, "noise": "positive"},
    "FieldLayout": {
        "height": "positive",
        "width": "positive",
        "stride": "positive",
        "structure": "choice:sequence|grid",
    },
    # metrics, actions, and what is all in the annotations
    "KernelSpan": _KERNEL_SPAN,
    "KernelColumns": _KERNEL_SPAN,
    "ActionDynamics": {
        "mean": "float (D)",
        "axes": "float (k, D)",
        "names": "list plain",
        "centre": "float (u)",
        "scale": "float (u)",
        "landmarks": "float (m, u)",
        "whitening": "float (m, *)",
        "weights": "float (*, k)",
        "bandwidth": "positive",
        "largest": "number",
        "error": "number",
        "copying": "number",
    },
    "RigidMap": {"rotation": "float (r, r)", "translation": "float (r)"},
    # columns of a table
    "ColumnUse": {"kind": f"choice:{'|'.join((*KINDS, 'constant', 'empty'))}", "n_missing": "count"},
    "RowSample": {"rows": "real (m, d)", "n_rows": "positive"},
    "ColumnBlock": {"start": "count", "stop": "count"},
    "ColumnFill": {"source": f"choice:{'|'.join(SOURCES)}", "low": "?number", "high": "?number", "decimals": "number"},
    "FillPlan": {
        "columns": "list:d record",
        "fills": "list:d record",
        "codes": "list:k record",
        "blocks": "list:k record",
    },
    "ColumnLayout": {"stored": f"choice:{'|'.join(STORED)}", "decimals": "number", "levels": "?list plain"},
    "TableLayout": {"columns": "list record"},
    "NumberCode": {"centre": "number", "scale": "positive", "middle": "number", "unit": "number"},
    "AngleCode": {"period": "positive", "lowest": "number", "scale": "positive"},
    "CategoryCode": {"levels": "list:k plain", "shares": "float (k)", "weight": "positive"},
    "OrdinalCode": {"centre": "number", "scale": "positive"},
    "DateCode": {"centre": "number", "scale": "positive", "step": "positive", "spreads": "float (*)"},
    "TextCode": {"rarity": "float (b)", "directions": "float (b, p)", "mean": "float (p)", "scale": "positive"},
    "ForeignEstimator": {},
    "ReconstructionDistance": {},
    "TangentDistance": {},
}
"""Specifications of the fields of each dataclass that a file may hold."""
