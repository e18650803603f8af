"""Named things: found by name, by alias, or as a user's own TOML file."""

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from dumbbell.base.errors import UserError, nearest
from dumbbell.base.names import RULE, is_name
from dumbbell.catalog.installed import installed_folders
from dumbbell.catalog.toml_tables import TomlTable, read_toml


class Named(Protocol):
    """Something the catalog lists."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names it answers to."""


Item = TypeVar("Item", bound=Named)


class Index(Generic[Item]):
    """The items of one kind, shipped ones first, in file-name order, and the way to find one by what a user typed."""

    def __init__(
        self,
        kind: str,
        folder: Path,
        parse: Callable[[TomlTable], Item],
        otherwise: Callable[[str], Item | None] = lambda _: None,
        group: str = "",
        elsewhere: Callable[[str], str] = lambda _: "",
    ) -> None:
        """`otherwise` is asked for what no file names; `group` is the entry points' with which packages add files.

        `elsewhere` says of what is refused how to give it, if it is something of another kind.
        """
        self.kind = kind
        self.folder = folder
        self.parse = parse
        self.otherwise = otherwise
        self.group = group
        self.elsewhere = elsewhere
        self._items: dict[str, Item] | None = None
        self._alone: dict[str, Item] = {}
        """Shipped items whose files were read without the others."""

    @cached_property
    def _added(self) -> list[Path]:
        """The folders of other packages."""
        return installed_folders(self.group) if self.group else []

    def _load(self) -> dict[str, Item]:
        if self._items is None:
            items: dict[str, Item] = {}
            folders = [self.folder, *self._added]
            for file in (file for folder in folders for file in sorted(folder.glob("*.toml"))):
                item = self.parse(read_toml(file))
                for name in (item.name, *item.aliases):
                    if name in items:
                        raise UserError(f"{file}: the name `{name}` is taken by the {self.kind} `{items[name].name}`")
                    items[name] = item
            self._items = items
        return self._items

    def __iter__(self) -> Iterator[Item]:
        seen = set()
        for item in self._load().values():
            if item.name not in seen:
                seen.add(item.name)
                yield item

    def is_shipped(self, file: str) -> bool:
        """Whether a file is one of ours."""
        return Path(file).parent == self.folder

    def _shipped(self, text: str) -> Item | None:
        """Return the shipped item that has this name and whose file is called so, without reading the other files.

        None if there is no such file, or if installed packages add files: those are read too, to refuse a name twice.
        """
        if self._items is None and text not in self._alone and is_name(text):
            file = self.folder / f"{text}.toml"
            if file.is_file() and not self._added:
                item = self.parse(read_toml(file))
                if item.name == text:
                    self._alone[text] = item
        return self._alone.get(text)

    def knows(self, text: str) -> bool:
        """Return whether an item has this name or alias."""
        return self._shipped(text) is not None or text in self._load()

    def names(self) -> list[str]:
        """Every name that `find` knows, aliases included."""
        return list(self._load())

    def find(self, text: str) -> Item:
        """The item called `text`, or the one in the file `text` if it ends in `.toml`.

        Raises:
            UserError: no such item, with the closest name, or with what it is instead.
        """
        if text.endswith(".toml"):
            table = read_toml(Path(text))
            try:
                return self.parse(table)
            except UserError as error:
                raise self._mistaken(text) or error from None
        item = self._shipped(text) or self._load().get(text) or self.otherwise(text)
        if item is None:
            hint = nearest(text, self._load())
            raise self._mistaken(text) or UserError(
                f"unknown {self.kind} `{text}`{hint}: `dumbbell list {self.kind}s` shows all"
            )
        return item

    def _mistaken(self, text: str) -> UserError | None:
        """The error for something of another kind."""
        other = self.elsewhere(text)
        return UserError(f"{text}: this is {other}") if other else None


def read_name(table: TomlTable) -> str:
    """The `name` key, which also names a directory of results."""
    name = table.text("name", Path(table.source).stem)
    if not is_name(name):
        raise table.fail("name", name, RULE)
    return name
