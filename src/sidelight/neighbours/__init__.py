"""Nearest-neighbour search (exact and cell index), neighbour graphs, landmarks, strata, sparse distances."""
