"""What runs inside the sandbox beside the model: standard library only, and nothing secret."""
