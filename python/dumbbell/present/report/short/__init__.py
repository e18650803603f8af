"""The short report: findings, a plane and a table of each path, what failed, how it was made."""
