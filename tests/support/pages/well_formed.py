"""Strict reader of HTML pages."""

import html.parser

VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}


class HtmlChecker(html.parser.HTMLParser):
    """Checks that elements close in order; keeps identifiers and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.identifiers: list[str] = []
        self.text = ""

    def read(self, page: str) -> None:
        """Read a whole page."""
        self.feed(page)
        self.close()
        assert self.open == []

    def start(self, tag: str, attributes: dict[str, str | None]) -> None:
        """Handle the start of an element, which `open` contains already unless it is void."""

    def data(self, data: str) -> None:
        """Handle text that readers see."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        assert len(attributes) == len(attrs)
        if "id" in attributes:
            self.identifiers.append(attributes["id"] or "")
        if tag not in VOID:
            self.open.append(tag)
        self.start(tag, attributes)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("style", "script"):
            return
        self.text += data
        self.data(data)
