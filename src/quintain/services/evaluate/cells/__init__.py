"""Runs of models on data sets: queued, leased to workers, measured, paid for and explained."""
