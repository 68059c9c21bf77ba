"""Shared foundations: messages, validation, cost estimates, progress, warnings, files, atomic fits, threads."""
