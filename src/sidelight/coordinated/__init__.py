"""Coordinated mixtures: local charts of one or several views in one latent space."""
