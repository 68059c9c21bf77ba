"""Objectives: pure functions of the latent points, each with its gradient and its named terms."""
