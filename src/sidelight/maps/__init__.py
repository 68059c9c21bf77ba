"""Maps between data and latent space, densities, and mixtures; each query row is answered independently."""
