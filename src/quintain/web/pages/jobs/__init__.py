"""Pages about jobs."""
