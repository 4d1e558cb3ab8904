"""Writing in a round: sessions, attempts, what is checked before they count, and verdicts."""
