# Kernel settings that wrappers ask for after a reboot. Valid Python 2.7 and 3.
# mypy: ignore-errors
import sys

from helpers.subprocess_wrappers import call, check_call, check_output


def load_kernel_module(module):
    if call(["sudo", "modprobe", module]) != 0:
        sys.exit(module + ": the kernel module cannot be loaded")


def enable_congestion_control(name):
    names = _sysctl("net.ipv4.tcp_allowed_congestion_control").split()
    if name not in names:
        _set_sysctl("net.ipv4.tcp_allowed_congestion_control", " ".join(names + [name]))


def check_qdisc(qdisc):
    current = _sysctl("net.core.default_qdisc")
    if current != qdisc:
        sys.exit("net.core.default_qdisc is " + current + ", needed is " + qdisc)


def set_qdisc(qdisc):
    if _sysctl("net.core.default_qdisc") != qdisc:
        _set_sysctl("net.core.default_qdisc", qdisc)


def enable_ip_forwarding():
    _set_sysctl("net.ipv4.ip_forward", "1")


def disable_rp_filter(interface):
    for name in (interface, "all"):
        _set_sysctl("net.ipv4.conf." + name + ".rp_filter", "0")


def _sysctl(name):
    return check_output(["sysctl", "-n", name]).strip()


def _set_sysctl(name, value):
    check_call(["sudo", "sysctl", "-w", name + "=" + value])
