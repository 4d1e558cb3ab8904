"""Contests: teams that build, teams that break with minimal pairs, and what came of it."""
