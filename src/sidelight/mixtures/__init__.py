"""Mixtures and probabilistic PCA: densities with missing values, streams and samples."""
