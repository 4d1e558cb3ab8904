"""Questions about jobs and kept figures."""
