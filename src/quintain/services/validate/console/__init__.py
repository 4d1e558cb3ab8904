"""What owners do: open a validation, take items in, change its policy, follow it and take it away."""
