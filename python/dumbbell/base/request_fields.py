"""Fields of requests. Each is an argument of a library function and an option of its command.

The option, the line of the function's docstring and the row of a table in docs come from the field's metadata.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, ParamSpec, TypeVar


@dataclass(frozen=True, kw_only=True)
class Option:
    """Facts about a field besides its name and type."""

    means: str
    """One sentence for people, with the unit."""
    read: Callable[[str], object] | None = None
    """Function that reads the text of the command's option; None for a switch."""
    form: Callable[[], str] = lambda: ""
    """The form of the option's value, for people: `N`, `DIR`."""
    word: str = ""
    """Name of the option, if it differs from the field's name."""
    heading: str = ""
    """Group of options in which the help lists the option."""
    repeats: bool = False
    """True if the option may be given several times."""
    is_required: bool = False
    """True if the command refuses to run without the option."""
    setting: str = ""
    """Setting of an experiment that the field sets."""
    group: type | None = None
    """Dataclass of the group of fields that the field holds. Such a field has no option itself."""

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
    form_function = form if callable(form) else lambda: form
    return request_field(
        default, Option(means=means, read=read, form=form_function, word=word, heading=heading, repeats=repeats)
    )


def option_like(kind: type, name: str, means: str = "") -> Any:  # noqa: ANN401 (a field of any type)
    """Return a copy of a field of another request; `means` replaces its sentence."""
    other = next(candidate for candidate in fields(kind) if candidate.name == name)
    other_option: Option = other.metadata[_OPTION]
    return request_field(other.default, replace(other_option, means=means) if means else other_option)


def options(kind: type) -> Iterator[tuple[str, Option]]:
    """Yield name and option of each field of a request, or of one of its groups."""
    for request_field_ in fields(kind):
        yield request_field_.name, request_field_.metadata[_OPTION]


Parameters = ParamSpec("Parameters")
Request = TypeVar("Request")
Result = TypeVar("Result")


def with_fields_of(
    make: Callable[Parameters, Request],
) -> Callable[[Callable[[Request], Result]], Callable[Parameters, Result]]:
    """Convert a function of a request to a function of the request's fields, with their docstring."""

    def decorate(function: Callable[[Request], Result]) -> Callable[Parameters, Result]:
        signature = inspect.signature(make)

        @functools.wraps(function)
        def call(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            try:
                signature.bind(*arguments, **keywords)
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(make(*arguments, **keywords))

        return_type = inspect.signature(function).return_annotation
        call.__signature__ = signature.replace(return_annotation=return_type)  # type: ignore[attr-defined]
        summary, _, rest = (function.__doc__ or "").partition("\n\n    Returns:")
        call.__doc__ = f"{summary}\n\n    Args:\n{_argument_lines(make)}\n\n    Returns:{rest}"
        return call

    return decorate


def _argument_lines(make: Callable[..., object]) -> str:
    assert isinstance(make, type)
    return "\n".join(f"        {name}: {option.means}." for name, option in options(make))
