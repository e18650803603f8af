"""The schemas of the TOML files that people write: what editors check and complete, and what docs/reference/keys.md lists."""
