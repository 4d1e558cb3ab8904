"""The ranking of a task's models, how sure it is, and what is kept of it."""
