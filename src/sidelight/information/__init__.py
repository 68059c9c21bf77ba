"""Kernel information embeddings: one view, two views, their relatives, and any number of rows."""
