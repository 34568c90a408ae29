"""Measures Assay against its budgets: `python -m tests.bench [NAME…]`, and `python -m tests.bench peers`.

Every figure is a ratio of two measurements taken in turn in the same run on the same machine, or a count. Times of one
machine are printed beside it to be looked at; no goal is set in them.
"""
