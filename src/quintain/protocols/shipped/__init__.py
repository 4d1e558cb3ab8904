"""Protocols that ship, as TOML files."""
