"""Ways to pay people: one file per provider."""
