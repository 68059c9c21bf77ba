"""Solvers: optimisers, eigensolvers, EM and multigrid, independent of any model; results are frozen dataclasses."""
