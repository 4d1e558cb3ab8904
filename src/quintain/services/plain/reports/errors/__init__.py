"""Errors of models on plain files: gold answers, predictions, votes, and what is told of them."""
