"""The elements of an HTML page."""

from html.parser import HTMLParser


class Elements(HTMLParser):
    """The elements of a page: names and attributes, the title, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.title = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.texts.append((tag, ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem in ("script", "style"):
            self.texts[-1] = (self.cdata_elem, self.texts[-1][1] + data)
        elif self.found[-1:] and self.found[-1][0] == "title":
            self.title += data
