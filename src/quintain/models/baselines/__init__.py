"""The built-in baselines, one file each."""
