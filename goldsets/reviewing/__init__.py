"""Reviewers compiled from labels: examples in, plain weights and proof out. Knows nothing of Django or the database."""
