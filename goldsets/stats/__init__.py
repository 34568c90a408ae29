"""Statistics that use trusted labels, computed from plain numbers. Knows NumPy and SciPy and nothing of Django."""
