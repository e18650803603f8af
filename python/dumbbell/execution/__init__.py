"""Executes experiments: spreads runs over processes or a cluster and records each when it is finished."""
