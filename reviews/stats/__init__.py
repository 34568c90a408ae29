"""Agreement between raters, computed from plain arrays. Knows NumPy and nothing of Django."""
