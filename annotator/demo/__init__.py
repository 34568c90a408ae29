"""A support desk made for trying Assay: a small world, agents that run in it, raters who judge them."""
