"""The wheel: whether a round is solved, the next round, and the timeline of a task."""
