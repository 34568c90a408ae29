"""PostgreSQL and Valkey out of Python wheels, so that Assay runs on one machine with nothing installed."""
