"""What runs come to: figures, answers, comparisons, and the gaps where a figure is missing."""
