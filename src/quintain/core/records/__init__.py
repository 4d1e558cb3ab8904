"""What services give, the API answers, the client gives back and `--json` prints: one frozen record per concept."""
