"""The Northpier desk: a small, seeded world without a clock, in which scripted agents really run."""
