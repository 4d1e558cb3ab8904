"""Calls that are written from the API by scripts/make_client.py."""
