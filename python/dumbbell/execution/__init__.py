"""Execution of experiments: runs are spread over processes or a cluster, and each is recorded when it finishes."""
