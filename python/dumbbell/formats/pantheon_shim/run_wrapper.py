# Runs a wrapper with the stand-in modules before its own. Valid Python 2.7 and 3.
# mypy: ignore-errors
import os
import runpy
import sys

if __name__ == "__main__":
    sys.dont_write_bytecode = True  # leave no files in the checkout
    wrapper = sys.argv[1]
    wrappers = os.path.dirname(wrapper)
    modules = os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules")
    sys.path[0:1] = [modules, wrappers, os.path.dirname(wrappers)]
    sys.argv[0:2] = [wrapper]
    runpy.run_path(wrapper, run_name="__main__")
