"""Artefacts: what in a data set gives answers away without the task being solved."""
