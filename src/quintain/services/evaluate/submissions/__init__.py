"""Models on their way in: handed in, checked, tried on a few examples, and run at home."""
