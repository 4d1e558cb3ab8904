"""Commands on plain files: no store, no account, no server."""
