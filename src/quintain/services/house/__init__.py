"""The house itself: backup, health, demo, looking around, what a person may ask for."""
