"""Errors of models: where they are, where two models part, and whether confidence goes with people's agreement."""
