"""Fields of a request: each is an argument of a function of the library and an option of its command.

The metadata of a field make the option, the line of the function's docstring, and the row of a table in docs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, ParamSpec, TypeVar


@dataclass(frozen=True, kw_only=True)
class Option:
    """What is known of a field besides its name and type."""

    means: str
    """One sentence for people, with the unit."""
    read: Callable[[str], object] | None = None
    """How the text of the command's option is read; None of a switch."""
    form: Callable[[], str] = lambda: ""
    """The form of the option's value, for people: `N`, `DIR`."""
    word: str = ""
    """The option's name, if it is not the field's."""
    heading: str = ""
    """The group of options that the option is listed in."""
    repeats: bool = False
    """True if the option may be given several times."""
    needed: bool = False
    """True if the command refuses to run without the option."""
    setting: str = ""
    """The setting of an experiment that the field is."""
    group: type | None = None
    """The group of fields that the field holds; it has no option itself."""

    def option(self, name: str) -> str:
        """Return the command's option for the field called `name`."""
        return "--" + (self.word or name).replace("_", "-")


_OPTION = "option"


def metadata(option: Option) -> dict[str, Option]:
    """Return the metadata of a field that has the option, for `dataclasses.field`."""
    return {_OPTION: option}


def request_field(default: object, option: Option) -> Any:  # noqa: ANN401 (a field of any type)
    """Return a field with an option."""
    return field(default=default, metadata=metadata(option))


def option(
    default: object,
    means: str,
    read: Callable[[str], object] | None = None,
    form: str | Callable[[], str] = "",
    *,
    word: str = "",
    heading: str = "",
    repeats: bool = False,
) -> Any:  # noqa: ANN401 (a field of any type)
    """Return a field with an option; without `read` and `form` the option is a switch."""
    shown = form if callable(form) else lambda: form
    return request_field(
        default, Option(means=means, read=read, form=shown, word=word, heading=heading, repeats=repeats)
    )


def option_like(kind: type, name: str, means: str = "") -> Any:  # noqa: ANN401 (a field of any type)
    """Return a field like that of another request; `means` takes the place of its sentence."""
    other = next(each for each in fields(kind) if each.name == name)
    known: Option = other.metadata[_OPTION]
    return request_field(other.default, replace(known, means=means) if means else known)


def options(kind: type) -> Iterator[tuple[str, Option]]:
    """Yield the name and the option of each field of a request or of one of its groups."""
    for each in fields(kind):
        yield each.name, each.metadata[_OPTION]


Parameters = ParamSpec("Parameters")
Request = TypeVar("Request")
Result = TypeVar("Result")


def with_fields_of(
    make: Callable[Parameters, Request],
) -> Callable[[Callable[[Request], Result]], Callable[Parameters, Result]]:
    """Turn a function of a request into one that takes the request's fields, with their docstring."""

    def decorate(function: Callable[[Request], Result]) -> Callable[Parameters, Result]:
        signature = inspect.signature(make)

        @functools.wraps(function)
        def call(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            try:
                signature.bind(*arguments, **keywords)
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(make(*arguments, **keywords))

        returned = inspect.signature(function).return_annotation
        call.__signature__ = signature.replace(return_annotation=returned)  # type: ignore[attr-defined]
        summary, _, rest = (function.__doc__ or "").partition("\n\n    Returns:")
        call.__doc__ = f"{summary}\n\n    Args:\n{_argument_lines(make)}\n\n    Returns:{rest}"
        return call

    return decorate


def _argument_lines(make: Callable[..., object]) -> str:
    assert isinstance(make, type)
    return "\n".join(f"        {name}: {option.means}." for name, option in options(make))
