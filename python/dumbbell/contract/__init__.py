"""Types of the JSON that the core takes and returns, and of the JSON files of results.

`scripts/contract.py` generates `specification` and `statistics` from the structures of the core. `run` and
`environment` are written by hand: they have what Python adds. The types describe dictionaries as `json.loads` returns
them, and type checkers alone use them: nothing is converted when a program runs.
"""
