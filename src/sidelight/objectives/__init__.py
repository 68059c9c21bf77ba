"""Objectives with gradients and named terms, mixtures and semidefinite programs; no solvers, no estimators."""
