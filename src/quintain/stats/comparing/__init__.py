"""Data sets beside each other: how far models are behind people, what carries over, how varied they are."""
