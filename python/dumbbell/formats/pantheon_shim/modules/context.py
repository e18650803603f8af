# Places of the checkout's folders, for wrappers. Valid Python 2.7 and 3.
# mypy: ignore-errors
import os
import sys

src_dir = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
root_dir = os.path.dirname(src_dir)
base_dir = root_dir
third_party_dir = os.path.join(root_dir, "third_party")
