"""Reads of `goldsets`: joins and aggregates, and the value objects that pages and the API show."""
