"""Kernels: profiles of r², bandwidths, kernel matrices, and sums over all pairs."""
