"""Schemas of the TOML files that people write: for editors, and for docs/reference/keys.md."""
