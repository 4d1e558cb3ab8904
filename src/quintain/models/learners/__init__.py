"""What can learn from a recipe, one file each."""
