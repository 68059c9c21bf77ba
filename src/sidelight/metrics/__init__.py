"""Learned metrics: from equivalences, attributes or known distances."""
