"""Kernels: profiles of r², bandwidths, neighbours, kernel matrices, and the tiles everything runs in."""
