"""Types of the JSON that the core takes and returns, and of the JSON files of results.

`scripts/contract.py` generates `specification` and `statistics` from the structures of the core. `run` and
`environment` are written by hand: they have what Python adds. So are the modules that describe what the core returns
besides. `dumbbell.core` decodes by these types, and `base/json_types.py` checks values of files and messages by them.
"""
