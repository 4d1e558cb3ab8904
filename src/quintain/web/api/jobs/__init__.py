"""Jobs, for programs."""
