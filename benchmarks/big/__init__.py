"""A workspace of the size that a platform has after years, and what its pages cost: see `big_workspace.py`."""
