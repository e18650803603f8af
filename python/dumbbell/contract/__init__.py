"""What passes between the core and Python, and what is kept of a run: typed, read-only tables of JSON.

`specification` and `statistics` are generated of the core's structures by `scripts/contract.py`; `run` is what Python
adds. They describe dictionaries as `json.loads` makes them, for type checkers alone: nothing is converted.
"""
