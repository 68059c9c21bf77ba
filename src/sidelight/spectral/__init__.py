"""Hybrid embedding and the distances it takes."""
