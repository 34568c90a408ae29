"""Runs of agents: reading files of any format, the steps they become, and how a step is read. Imports no Django."""
