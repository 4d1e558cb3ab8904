"""Sentences from a corpus that a model may get wrong."""
