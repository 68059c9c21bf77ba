"""Nearest rows: exact and cell search, graphs and their paths, landmarks, strata, sparse distances."""
