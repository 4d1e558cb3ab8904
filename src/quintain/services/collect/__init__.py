"""People write at models: rounds, sessions, attempts."""
