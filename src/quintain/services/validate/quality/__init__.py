"""How good judgements are: gold, judges and their qualifications, reviews, labels and error rates."""
