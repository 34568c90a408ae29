"""Uses trusted labels: blind gold, standing of raters, data sets for training and evaluation."""
