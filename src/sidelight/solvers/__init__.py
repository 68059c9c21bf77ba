"""Solvers: they minimise objectives and know nothing of what those mean; results are typed and frozen."""
