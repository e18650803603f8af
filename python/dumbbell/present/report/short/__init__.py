"""Short report: findings, a plane and a table of each path, failures, and origin."""
