"""Models and their versions: registered, uploaded, trained, asked."""
