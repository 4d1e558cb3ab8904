"""Where submitted code runs: bubblewrap, control groups, a system-call filter and a watching supervisor."""
