"""People from panels: how they come in, show who they are, and go back."""
