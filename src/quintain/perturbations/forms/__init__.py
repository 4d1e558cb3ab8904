"""How each kind of change is made in other languages than English, from the lists of those languages."""
