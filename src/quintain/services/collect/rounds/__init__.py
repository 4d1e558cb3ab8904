"""Rounds: what they ask, their targets and prompts, how they go, and what they give."""
