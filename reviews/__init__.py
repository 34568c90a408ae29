"""Makes trusted labels: from imported runs through blind judgment and adjudication to a label."""
