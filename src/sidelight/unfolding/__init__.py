"""Embeddings by semidefinite programs: unfolding, and actions that become rigid maps."""
