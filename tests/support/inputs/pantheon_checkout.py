"""Made-up Pantheon checkout for tests, with wrappers like the real ones."""

from pathlib import Path

CONFIG = """\
schemes:
  plain:
    name: Plain TCP
    color: crimson
    marker: '*'
  backward:
    name: Backward UDP
    color: '#00CD00'   # a comment
    marker: D
  chatty:
    name: Chatty TCP
    color: navy
    marker: v
  stuck:
    name: Stuck
    color: gray
    marker: 's'
  broken:
    name: Broken
    color: gray
    marker: 'x'
  old:
    name: Python 2
    color: gray
    marker: 'x'
  absent:
    name: Has no wrapper
"""

HEAD = """\
#!/usr/bin/env python

import os
import signal
import socket
import sys

import arg_parser
import context
from helpers import utils
from helpers.kernel_ctl import enable_congestion_control
from helpers.subprocess_wrappers import check_call, check_output

"""

TCP = """
def receive(port, noise=''):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(('0.0.0.0', int(port)))
    listener.listen(1)
    peer, _ = listener.accept()
    while peer.recv(65536):
        sys.stdout.write(noise)


def send(ip, port, noise=''):
    peer = socket.socket()
    peer.connect((ip, int(port)))
    while True:
        peer.sendall(b'x' * 10000)
        sys.stdout.write(noise)
"""

WRAPPERS = {
    "plain": TCP
    + """
def main():
    args = arg_parser.receiver_first()
    if args.option == 'deps':
        print('iperf')
        return
    if args.option == 'setup':
        check_call(['true'], cwd=utils.tmp_dir)
        return
    if args.option == 'receiver':
        receive(args.port)
        return
    if args.option == 'sender':
        send(args.ip, args.port)
        return


if __name__ == '__main__':
    main()
""",
    # The receiver starts second and speaks first: the data go to the address that its hello came from.
    "backward": """
def main():
    args = arg_parser.sender_first()
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if args.option == 'sender':
        peer.bind(('0.0.0.0', int(args.port)))
        _, where = peer.recvfrom(2000)
        peer.settimeout(0.01)  # between two packets it listens to who has moved
        while True:
            peer.sendto(b'x' * 1000, where)
            try:
                _, where = peer.recvfrom(2000)
            except socket.timeout:
                pass
    if args.option == 'receiver':
        peer.sendto(b'hello', (args.ip, int(args.port)))
        while True:
            peer.recv(2000)


if __name__ == '__main__':
    main()
""",
    "chatty": TCP
    + """
def main():
    args = arg_parser.receiver_first()
    noise = 'm' * 999 + '\\n'
    if args.option in ('sender', 'receiver'):
        sys.stdout.write(noise * 200)
        sys.stdout.flush()
    if args.option == 'receiver':
        receive(args.port, noise)
    if args.option == 'sender':
        send(args.ip, args.port, noise)


if __name__ == '__main__':
    main()
""",
    # The receiver listens and gets a connection, but no data; a child leaves the process group.
    "stuck": TCP
    + """
def main():
    args = arg_parser.receiver_first()
    if args.option == 'receiver':
        receive(args.port)
    if args.option == 'sender':
        peer = socket.socket()
        peer.connect((args.ip, int(args.port)))
        if os.fork() == 0:
            os.setsid()
        signal.pause()


if __name__ == '__main__':
    main()
""",
    "broken": TCP
    + """
def main():
    args = arg_parser.receiver_first()
    if args.option == 'receiver':
        receive(args.port)
    if args.option == 'sender':
        sys.exit('the model is not where it should be')


if __name__ == '__main__':
    main()
""",
    "old": TCP
    + """
def main():
    args = arg_parser.receiver_first()
    if args.option == 'deps':
        print 'iperf', context.third_party_dir
        return
    if args.option == 'receiver':
        receive(args.port)
    if args.option == 'sender':
        send(args.ip, args.port)


if __name__ == '__main__':
    main()
""",
}


def make_checkout(folder: Path) -> Path:
    """Write the checkout; its directory has a space and braces in its name."""
    directory = folder / "a {pantheon} checkout"
    wrappers = directory / "src" / "wrappers"
    wrappers.mkdir(parents=True)
    (directory / "src" / "config.yml").write_text(CONFIG)
    for name, text in WRAPPERS.items():
        (wrappers / f"{name}.py").write_text(HEAD + text)
    # These files must not be imported: the real ones need Python 2 and PyYAML.
    for name in ("arg_parser.py", "context.py"):
        (wrappers / name).write_text("print 'the wrong module'\n")
    helpers = directory / "src" / "helpers"
    helpers.mkdir()
    (helpers / "__init__.py").write_text("")
    (helpers / "utils.py").write_text("print 'the wrong module'\n")
    return directory
