"""One computation on plain files each: scores, splits, contests, perturbations, signatures."""
