"""Dynamic benchmarks of language models.

This is the public Python API: what a notebook imports, and nothing else.
"""

__version__ = "0.1.0"
