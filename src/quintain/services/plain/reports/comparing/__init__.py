"""Data sets beside each other, on plain files: what a file has of each, and what is told of them."""
