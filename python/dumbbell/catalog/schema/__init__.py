"""The schemas of the TOML files that people write: what editors check and complete, and what docs/keys.md lists."""
