"""From judgements in files to labels, and how far people agree."""
