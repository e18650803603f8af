"""Python code of a script in packetdrill's syntax, whose assertions are read and not executed."""

import ast
import operator
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from dumbbell.base.errors import nearest
from dumbbell_conformance.packetdrill.text import quotation

Value = int | float
_MAX_CODE_CHARACTERS = 20_000
_MAX_VALUE = 1e18

CONSTANTS: dict[str, Value] = {
    "TCP_CA_Open": 0,
    "TCP_CA_Disorder": 1,
    "TCP_CA_CWR": 2,
    "TCP_CA_Recovery": 3,
    "TCP_CA_Loss": 4,
}
"""Constants of Linux's `include/uapi/linux/tcp.h` (v6.12) whose values matter."""

_OTHER_NAMES = (
    "TCP_",
    "TCPI_",
    "SK_MEMINFO_",
    "bbr_",
    "dctcp_",
    "tcp_rtt",
    "tcp_minrtt",
)
"""Beginnings of other names in packetdrill, google/packetdrill@2c4001c, gtests/net/packetdrill/code.c."""

# fmt: off
_FIELDS = {f"tcpi_{name}" for name in (
    "accecn_fail_mode", "accecn_opt_seen", "advmss", "ato", "backoff", "busy_time", "bytes_acked", "bytes_received",
    "bytes_retrans", "bytes_sent", "ca_state", "data_segs_in", "data_segs_out", "delivered", "delivered_ce",
    "delivered_ce_bytes", "delivery_rate", "delivery_rate_app_limited", "dsack_dups", "ecn_mode", "fackets",
    "fastopen_client_fail", "last_ack_recv", "last_ack_sent", "last_data_recv", "last_data_sent", "lost",
    "max_pacing_rate", "min_rtt", "notsent_bytes", "options", "pacing_rate", "pmtu", "probes", "rcv_mss", "rcv_nxt",
    "rcv_ooopack", "rcv_rtt", "rcv_space", "rcv_ssthresh", "rcv_wnd", "rcv_wscale", "received_ce",
    "received_ce_bytes", "rehash", "reord_seen", "reordering", "retrans", "retransmits", "rto", "rtt", "rttvar",
    "rwnd_limited", "sacked", "segs_in", "segs_out", "snd_bwnd", "snd_cwnd", "snd_mss", "snd_nxt", "snd_rexmitpack",
    "snd_ssthresh", "snd_wnd", "snd_wscale", "snd_zerowin", "sndbuf_limited", "state", "toe_tid", "total_retrans",
    "total_rto", "total_rto_recoveries", "total_rto_time", "unacked",
)}
# fmt: on

_MIRROR = {"==": "==", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_RELATIONS: dict[type[ast.cmpop], str] = {ast.Eq: "==", ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">="}
_OPERATIONS: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


@dataclass(frozen=True)
class Comparison:
    """One comparison of an assertion: a field of `tcp_info` with a number."""

    field: str
    relation: str
    """`==`, `<`, `>`, `<=` or `>=`."""
    value: Value


class _NotReadError(Exception):
    """An expression of another form than a comparison of a field with a number."""


def read_code(code: str, constants: dict[str, Value]) -> tuple[list[Comparison], list[str]]:
    """Return the comparisons that code asserts, and notes on its omitted parts.

    Args:
        code: Code of Python, without `%{` and `}%`.
        constants: Names and their values; the code's own assignments are added.

    Raises:
        ValueError: If the text is not Python, or has a name unknown to packetdrill and to the code.
    """
    comparisons: list[Comparison] = []
    notes: list[str] = []
    for statement in _parse(code):
        try:
            if isinstance(statement, ast.Assert):
                comparisons += _assertions(statement.test, constants)
            elif isinstance(statement, ast.Assign) and [ast.Name] == [type(name) for name in statement.targets]:
                constants[ast.unparse(statement.targets[0])] = _number(statement.value, constants)
            elif not _is_print(statement):
                raise _NotReadError
        except _NotReadError:
            notes.append(f"`{_quotation(statement)}`: no code is executed, only comparisons with a number are read")
        except (RecursionError, OverflowError, ZeroDivisionError):
            raise ValueError(f"`{quotation(code)}`: expected `assert tcpi_snd_cwnd == 10`") from None
    return comparisons, notes


def _parse(code: str) -> list[ast.stmt]:
    if len(code) > _MAX_CODE_CHARACTERS:
        raise ValueError(f"code of {len(code)} characters: expected at most {_MAX_CODE_CHARACTERS}")
    first, _, rest = code.strip("\n").partition("\n")
    try:
        return ast.parse(f"{first.strip()}\n{textwrap.dedent(rest)}").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    try:
        return ast.parse(textwrap.dedent(code.strip("\n"))).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"`{quotation(code)}`: expected Python such as `assert tcpi_snd_cwnd == 10`") from None


def _quotation(statement: ast.stmt) -> str:
    try:
        return quotation(ast.unparse(statement))
    except RecursionError:
        return "a deeply nested expression"


def _is_print(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"


def _assertions(test: ast.expr, constants: dict[str, Value]) -> list[Comparison]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [comparison for part in test.values for comparison in _assertions(part, constants)]
    if not isinstance(test, ast.Compare):
        _look_up_names(test, constants)
        raise _NotReadError
    comparisons, left = [], test.left
    for relation, right in zip(test.ops, test.comparators, strict=True):
        comparisons.append(_comparison(left, _RELATIONS.get(type(relation)), right, constants))
        left = right
    return comparisons


def _comparison(left: ast.expr, relation: str | None, right: ast.expr, constants: dict[str, Value]) -> Comparison:
    for side in (left, right):
        _look_up_names(side, constants)
    if relation is None:
        raise _NotReadError
    if isinstance(left, ast.Name) and left.id in _FIELDS:
        return Comparison(left.id, relation, _number(right, constants))
    if isinstance(right, ast.Name) and right.id in _FIELDS:
        return Comparison(right.id, _MIRROR[relation], _number(left, constants))
    raise _NotReadError


def _look_up_names(expression: ast.expr, constants: dict[str, Value]) -> None:
    """Refuse an unknown name, which is a slip that would lose the assertion.

    Raises:
        ValueError: If a name is unknown.
    """
    called_names = {id(node.func) for node in ast.walk(expression) if isinstance(node, ast.Call)}
    for node in ast.walk(expression):
        if isinstance(node, ast.Name) and id(node) not in called_names:
            is_known = node.id in _FIELDS or node.id in constants
            if not is_known and (node.id.startswith(("tcpi_", "TCP_CA_")) or not node.id.startswith(_OTHER_NAMES)):
                raise ValueError(
                    f"`{quotation(node.id)}`: no such field or name{nearest(node.id, {*_FIELDS, *constants})}"
                )


def _number(node: ast.expr, constants: dict[str, Value]) -> Value:
    """Return the value of an expression of constants.

    Raises:
        _NotReadError: If the expression is something else.
    """
    match node:
        case ast.Constant(value=(int() | float()) as value) if not isinstance(value, bool):
            result: Value = value
        case ast.Name(id=name) if name in constants:
            result = constants[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            result = -_number(operand, constants)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            result = _OPERATIONS[type(op)](_number(left, constants), _number(right, constants))
        case _:
            raise _NotReadError
    if not abs(result) <= _MAX_VALUE:
        raise OverflowError
    return result
