"""Data sets and their versions."""
