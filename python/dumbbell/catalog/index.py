"""An index of catalog items, found by name, by alias, or in the user's own TOML file."""

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from dumbbell.base.errors import UserError, nearest
from dumbbell.base.names import RULE, is_name
from dumbbell.catalog.installed import installed_folders
from dumbbell.catalog.toml_tables import TomlTable, read_toml


class CatalogItem(Protocol):
    """An item that the catalog lists."""

    @property
    def name(self) -> str:
        """Name of the item."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names of the item."""


Item = TypeVar("Item", bound=CatalogItem)


class Index(Generic[Item]):
    """The items of one kind. The shipped ones are first, in the order of file names."""

    def __init__(
        self,
        kind: str,
        folder: Path,
        parse: Callable[[TomlTable], Item],
        otherwise: Callable[[str], Item | None] = lambda _: None,
        group: str = "",
        elsewhere: Callable[[str], str] = lambda _: "",
    ) -> None:
        """Make the index. `otherwise` finds an item without a file; `group` names entry points of packages with files.

        `elsewhere` describes the correct use of a refused text that is an item of another kind.
        """
        self.kind = kind
        self.folder = folder
        self.parse = parse
        self.otherwise = otherwise
        self.group = group
        self.elsewhere = elsewhere
        self._items: dict[str, Item] | None = None
        self._alone: dict[str, Item] = {}
        """Shipped items whose files were read alone."""

    @cached_property
    def _added(self) -> list[Path]:
        """Folders of other packages."""
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
        names = set()
        for item in self._load().values():
            if item.name not in names:
                names.add(item.name)
                yield item

    def is_shipped(self, file: str) -> bool:
        """Return True if a file is a shipped one."""
        return Path(file).parent == self.folder

    def _shipped(self, text: str) -> Item | None:
        """Return the shipped item with this name and file name, without reading the other files.

        None if there is no such file, or if installed packages add files. Then all files are read, to refuse duplicate
        names.
        """
        if self._items is None and text not in self._alone and is_name(text):
            file = self.folder / f"{text}.toml"
            if file.is_file() and not self._added:
                item = self.parse(read_toml(file))
                if item.name == text:
                    self._alone[text] = item
        return self._alone.get(text)

    def knows(self, text: str) -> bool:
        """Return True if an item has this name or alias."""
        return self._shipped(text) is not None or text in self._load()

    def names(self) -> list[str]:
        """Return all names that `find` knows, with aliases."""
        return list(self._load())

    def find(self, text: str) -> Item:
        """Return the item called `text`, or the one in the file `text` if that ends in `.toml`.

        Raises:
            UserError: If there is no such item; the message has the closest name, or the correct kind.
        """
        if text.endswith(".toml"):
            table = read_toml(Path(text))
            try:
                return self.parse(table)
            except UserError as error:
                raise self._wrong_kind(text) or error from None
        item = self._shipped(text) or self._load().get(text) or self.otherwise(text)
        if item is None:
            hint = nearest(text, self._load())
            raise self._wrong_kind(text) or UserError(
                f"unknown {self.kind} `{text}`{hint}: `dumbbell list {self.kind}s` shows all"
            )
        return item

    def _wrong_kind(self, text: str) -> UserError | None:
        """Return the error for an item of another kind, or None."""
        other = self.elsewhere(text)
        return UserError(f"{text}: this is {other}") if other else None


def read_name(table: TomlTable) -> str:
    """Return the key `name`, which also names a directory of results."""
    name = table.text("name", Path(table.source).stem)
    if not is_name(name):
        raise table.fail("name", name, RULE)
    return name
