"""Cells: models run on data sets, and what came out."""
