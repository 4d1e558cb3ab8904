"""Reports on plain files: artefacts, texts, item response, trials, errors and comparisons."""
