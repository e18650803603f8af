# Pantheon's utilities that wrappers use. Valid Python 2.7 and 3.
# mypy: ignore-errors
import errno
import os
import socket
import sys

import context
from helpers.subprocess_wrappers import call


def make_sure_dir_exists(directory):
    try:
        os.makedirs(directory)
    except OSError as error:
        if error.errno != errno.EEXIST:
            raise


tmp_dir = os.path.join(context.root_dir, "tmp")
try:
    make_sure_dir_exists(tmp_dir)
except OSError:  # a read-only checkout; wrappers that need the folder fail later
    pass


def get_open_port():
    probe = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("", 0))
    port = probe.getsockname()[1]
    probe.close()
    return str(port)


def apply_patch(name, repo_dir):
    patch = os.path.join(context.src_dir, "wrappers", "patches", name)
    if call(["git", "apply", patch], cwd=repo_dir) != 0:
        sys.stderr.write("the patch " + name + " does not apply: perhaps it is applied already\n")


def parse_config():
    import yaml  # only wrappers that read the configuration need the package

    with open(os.path.join(context.src_dir, "config.yml")) as stream:
        return yaml.safe_load(stream)
