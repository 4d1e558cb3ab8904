"""Models that are trained here by a recipe, and the reports of it."""
