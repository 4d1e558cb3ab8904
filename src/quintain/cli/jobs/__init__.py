"""Commands about jobs and kept figures."""
