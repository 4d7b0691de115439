"""The page as one document, with its styles, scripts and data inside, for the server and for a report."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from moff.picture.figurine import FIGURINES
from x88.piece import LETTERS

_FOLDER = Path(__file__).parent / "static"
_SHEETS = ("tokens", "page", "controls", "board", "moves")
_MAIN = "main"
_IMPORT = re.compile(r'^import [^;]*? from "\./(\w+)\.js";\n', re.MULTILINE)


def document(data: dict[str, Any], title: str = "Moff", has_policy: bool = False) -> tuple[bytes, str]:
    """The page with its data, and the content security policy that lets nothing else run. With `has_policy`,
    the policy is also in the page, for a file that no server sends.
    """
    policy = (
        f"default-src 'none'; script-src {_hash(_SCRIPT)}; style-src {_hash(_STYLE)}; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'"
    )
    drawings = {LETTERS[kind].upper(): figurine._asdict() for kind, figurine in FIGURINES.items()}
    text = json.dumps({"figurines": drawings, **data}, separators=(",", ":"))
    # Escape what could end the script element or begin a comment in it.
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n' if has_policy else ""
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{meta}<title>{title}</title>
<link rel="icon" href="data:image/svg+xml,{quote(_ICON)}">
<style>{_STYLE}</style>
</head>
<body>
<noscript>The board needs JavaScript, which is turned off.</noscript>
<script type="application/json" id="data">{text}</script>
<script type="module">{_SCRIPT}</script>
</body>
</html>
"""
    return page.encode(), policy


def _bundle() -> str:
    """All modules in one, each after those that it imports. Their names must differ."""
    parts: dict[str, str] = {}

    def add(name: str) -> None:
        if name in parts:
            return
        parts[name] = ""  # modules may import each other
        source = _read(f"{name}.js")
        for imported in _IMPORT.findall(source):
            add(imported)
        parts.pop(name)
        parts[name] = re.sub(r"^export ", "", _IMPORT.sub("", source), flags=re.MULTILINE)

    add(_MAIN)
    return "\n".join(parts.values())


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash of a text in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# Read now: when Moff is installed anew, the files are those of another version.
_STYLE = "\n".join(_read(f"{name}.css") for name in _SHEETS)
_SCRIPT = _bundle()
_ICON = _read("icon.svg")
