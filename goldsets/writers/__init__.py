"""PURE: rows in, files out. One file per format, the row they share, and the manifest. Imports no Django."""
