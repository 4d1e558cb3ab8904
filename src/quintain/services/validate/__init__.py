"""People judge what was collected: slots, judges, labels, error rates."""
