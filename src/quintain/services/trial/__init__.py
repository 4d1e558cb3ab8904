"""Trials of protocols: arms side by side, people who stay in theirs, grades, letters, and the report."""
