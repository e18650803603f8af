# The command line that every wrapper has. Valid Python 2.7 and 3.
# mypy: ignore-errors
import argparse

OTHER = {"receiver": "sender", "sender": "receiver"}


def receiver_first():
    return _parse("receiver")


def sender_first():
    return _parse("sender")


def _parse(first):
    """Return the arguments: `option` and, for a side, `port`, and the other side's `ip` for the second side."""
    parser = argparse.ArgumentParser()
    options = parser.add_subparsers(dest="option", metavar="OPTION")
    options.required = True
    for name, text in (
        ("deps", "print the packages that are needed to build the scheme"),
        ("run_first", "print which side is started first"),
        ("setup", "build the scheme"),
        ("setup_after_reboot", "what is needed again after every start of the machine"),
    ):
        options.add_parser(name, help=text)
    options.add_parser(first, help="start first").add_argument("port", help="port to listen on")
    second = options.add_parser(OTHER[first], help="start second")
    second.add_argument("ip", help="address of the first side")
    second.add_argument("port", help="port of the first side")
    arguments = parser.parse_args()
    if arguments.option == "run_first":
        print(first)
    return arguments
