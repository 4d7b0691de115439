"""The README and the pages of docs/: Moff prints the output that they show, and all that they name exists.

A block marked `console` is run in a scratch folder, line by line as it would be typed: `$ ` begins a command,
`> ` continues it, and the lines below are what it prints, where `...` is anything within a line, and any
number of lines if it stands alone; the figures of a review may be others. A block marked `pycon` is run as a
doctest, one marked `python` as a program; games in the terminal and in the browser are only begun. .ci/run
installs and packs Moff.
"""

import ast
import contextlib
import doctest
import functools
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess.engine
import pytest

import moff
from moff import commands
from moff.signals import INTERRUPTED
from tests import ROOT
from tests.client import ENGINE, PATIENCE, call
from tests.programs import run
from x88 import build

pytestmark = pytest.mark.slow

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
OTHERS = [ROOT / f"{name}.md" for name in ("CHANGELOG", "CODE_OF_CONDUCT", "CONTRIBUTING", "SECURITY")]
sys.path.append(str(DOCS))
pictures: Any = importlib.import_module("pictures")
TABLEBASES = ROOT.parent / "shared" / "data" / "syzygy"
FOLDER_OF_TABLES = "syzygy"
"""The name that the pages give a folder of tablebases."""

RELEASE = ROOT / ".github" / "workflows" / "release.yml"

TIMEOUT = 120
"""Seconds for a command."""

GAMES = """\
[Event "Opera"]
[Site "Paris FRA"]
[Date "1858.11.02"]
[Round "?"]
[White "Morphy, Paul"]
[Black "Duke Karl / Count Isouard"]
[Result "1-0"]

1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5
10. Nxb5 cxb5 11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8
17. Rd8# 1-0

[Event "Casual"]
[Site "?"]
[Date "1620.??.??"]
[Round "?"]
[White "Greco, Gioacchino"]
[Black "NN"]
[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. Ng5 d5 5. exd5 Nxd5 6. Nxf7 1-0
"""
"""The file games.pgn of the pages."""


def with_blocks(kind: str) -> pytest.MarkDecorator:
    """Run a test for each page that has blocks with that mark."""
    return pytest.mark.parametrize(
        "page", [page for page in PAGES if blocks(page, kind)], ids=lambda page: page.name
    )


def blocks(page: Path, kind: str) -> list[str]:
    """The fenced blocks of a page with that mark."""
    found = re.findall(rf"^( *)```{kind}\n(.*?)^\1```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for _, block in found]


def spoken(block: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that it is to print."""
    command, expected = "", []
    for line in block.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, expected
            command, expected = line.removeprefix("$ "), []
        elif line.startswith(">") and not expected:
            command += "\n" + line.removeprefix(">").removeprefix(" ")
        else:
            assert command, f"a console block begins with a command, not {line!r}"
            expected.append(line)
    yield command, expected


def pattern(expected: list[str], varies: bool) -> str:
    """A regular expression for the whole output, in which numbers and the width of columns may vary."""
    found = ""
    for line in expected:
        if line.strip() == "...":
            found += r"(?:.*\n)*?"
        else:
            found += ".*".join(map(re.escape, line.rstrip().split("..."))) + r"[ ]*\n"
    if varies:
        found = re.sub(r"(\\ )+", " +", found)
        found = re.sub(r"\d+(\\\.\d+)?", r"\\d+(\\.\\d+)?", found)
    return found


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder to work in, with the programs and the files that the pages name."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (("moff", f'"{ROOT / "engine.py"}" '), ("python", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n', encoding="utf-8")
        program.chmod(0o755)
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "games.pgn").write_text(GAMES, encoding="utf-8")
    if TABLEBASES.is_dir():
        (folder / FOLDER_OF_TABLES).symlink_to(TABLEBASES)
    return folder


def environment(desk: Path) -> dict[str, str]:
    """Moff and Python of this checkout, whatever else is installed."""
    found = {name: value for name, value in os.environ.items() if name not in ("SYZYGY_PATH", "COLUMNS")}
    path = os.pathsep.join([str(desk.parent / "bin"), os.environ["PATH"]])
    return found | {"PATH": path, "PYTHONPATH": str(ROOT), "BROWSER": "true", "PYTHONIOENCODING": "utf-8"}


def check(desk: Path, command: str, expected: list[str]) -> None:
    """Run a command and compare what it prints."""
    serves = command.startswith("moff board")
    reviews = command.startswith("moff review")
    if reviews and not build.compiled:  # it would take hours
        command = command.replace(" --fast", "").replace("moff review", "moff review --nodes 50")
    with subprocess.Popen(
        ["sh", "-c", f"exec {command}" if serves else command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=desk,
        env=environment(desk),
        encoding="utf-8",
        start_new_session=True,
    ) as shell:
        assert shell.stdout is not None
        told = ""
        if serves:
            # It serves until it is interrupted, as the page says.
            told = shell.stdout.readline()
            os.killpg(shell.pid, signal.SIGINT)
        try:
            rest, complaints = shell.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            raise
    told += rest
    assert shell.returncode == (INTERRUPTED if serves else 0), f"$ {command}\n{told}{complaints}"
    assert re.fullmatch(pattern(expected, reviews), told and told.rstrip("\n") + "\n"), (
        f"$ {command}\n{told}{complaints}"
    )


POSIX = pytest.mark.skipif(os.name == "nt", reason="the pages show the shell of Linux and macOS")


@POSIX
@with_blocks("(?:console|shell)")
def test_commands_print_the_output_shown(page: Path, desk: Path) -> None:
    for block in blocks(page, "console"):
        if TABLEBASES.is_dir() or FOLDER_OF_TABLES not in block:
            for command, expected in spoken(block):
                check(desk, command, expected)
    for line in "".join(blocks(page, "shell")).splitlines():
        if line.startswith(("moff board", "moff play")):
            check(desk, line, ["..."])


@with_blocks("pycon")
def test_python_prints_the_output_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").write_text(GAMES, encoding="utf-8")
    text = "\n".join(blocks(page, "pycon"))
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert test.examples
    told = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=told.write)
    assert not runner.failures, told.getvalue()


@POSIX
@with_blocks("python")
def test_programs_run(page: Path, desk: Path) -> None:
    for block in blocks(page, "python"):
        (desk / "program.py").write_text(block, encoding="utf-8")
        command = [sys.executable, "program.py"]
        done = subprocess.run(
            command, cwd=desk, env=environment(desk), capture_output=True, encoding="utf-8", timeout=TIMEOUT
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout


@pytest.mark.skipif(not build.compiled, reason="takes minutes uncompiled")
def test_the_notebook_runs_and_shows_its_last_values() -> None:
    names: dict[str, Any] = {}
    shown = []
    for cell in json.loads((DOCS / "library.ipynb").read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            *lines, last = ast.parse(cell["source"]).body
            exec(compile(ast.Module(lines, []), "cell", "exec"), names)
            code = compile(ast.Interactive([last]), "cell", "single")
            with contextlib.redirect_stdout(io.StringIO()) as told:
                exec(code, names)
            shown.append(told.getvalue())
    assert "Ruy Lopez" in shown[1]
    assert shown[2] == "4865609\n"
    assert "Morphy" in shown[-1]
    assert all(names[name]._repr_svg_().startswith("<svg") for name in ("board", "review"))


# The names in blocks that are not run.


def options_in(text: str) -> set[str]:
    """The long options that a text names."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text)) - {"--help"}


def help_of(command: str) -> str:
    """The help of a command and those under it."""
    text = call(*command.split(), "--help").output
    below = re.findall(r"^    (\w+)  ", text.partition("COMMAND\n")[2], re.MULTILINE)
    return text + "".join(call(*command.split(), name, "--help").output for name in below)


@functools.cache
def help_of_bench(name: str, *words: str) -> str:
    """The help of a program of bench/, or of a command of it."""
    return run(name, *words, "--help", COLUMNS="200").stdout


def test_programs_of_bench_have_the_options_that_the_pages_name() -> None:
    text = "\n".join(page.read_text("utf-8") for page in [*PAGES, *OTHERS])
    named = re.findall(r"bench/(\w+)\.py((?: [^`#|\n]*(?:\n +--[^`\n]*)?)?)", text)
    named = [(name, words) for name, words in named if options_in(words)]
    assert len(named) > 10
    for name, words in named:
        known = help_of_bench(name, *(words.split()[:1] if name == "tune" else []))
        assert options_in(words) <= options_in(known) or "once the extra is there" in known, (name, words)


def test_commands_shown_have_names_that_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    seen = 0
    shown = "\n".join(block for page in [*PAGES, *OTHERS] for block in blocks(page, "shell"))
    for part in re.split(r"&&|\||\n", shown.replace("\\\n", " ")):
        command = part.split("#")[0].strip()
        program, word, *_ = [*command.split(), "", ""]
        if Path(program).name == "moff" and word in commands.NAMES:
            assert options_in(command) <= options_in(help_of(word)), command
            seen += 1
        for group in re.findall(r"\.\[([\w,]+)\]", command):
            assert set(group.split(",")) <= extras.keys(), command
            seen += 1
        if program == "make" and word and not re.search("=|-C", word):
            assert word in targets, command
            seen += 1
    assert seen > 10


def test_readme_installs_and_tests_as_ci_does() -> None:
    readme, script = (path.read_text("utf-8") for path in (ROOT / "README.md", ROOT / ".ci" / "run"))
    install = "python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/moff bench"
    assert f"{install}\n" in readme
    assert ".venv/bin/python -m pytest\n" in readme
    for ours, theirs in (('"$python"', "python3"), ('"$work"/checkout', ".venv")):
        script = script.replace(ours, theirs)
    assert f"\n{install} | " in script
    assert "\npython -m pytest | " in script
    assert len(readme.splitlines()) <= 130


def test_options_of_the_page_are_those_of_the_engine() -> None:
    shape = r"^option name (.+) type (\w+)(?: default (.*?))?(?: min (\d+) max (\d+))?$"
    found = re.findall(shape, call("uci").output, re.MULTILINE)
    offered = [
        (name, kind, value, f"{low} to {high}" if low else "") for name, kind, value, low, high in found
    ]
    page = (DOCS / "options.md").read_text("utf-8").replace("VERSION", moff.__version__)
    if not build.compiled:
        page = page.replace("0x88 board, compiled", "0x88 board, uncompiled")
    rows = re.findall(r"^\| `(.+?)` \| (\w+) \|(.*?)\|(.*?)\|.+\|$", page, re.MULTILINE)
    documented = [
        (name, kind, default.strip(" `").replace("empty", "<empty>"), span.strip())
        for name, kind, default, span in rows
    ]
    assert sorted(documented) == sorted(offered)


def test_engine_has_the_options_that_lichess_bot_sets() -> None:
    (block,) = blocks(DOCS / "chess-programs.md", "yaml")
    ((_, lines),) = re.findall(r"^( *)uci_options:\n((?:\1 +.+\n)+)", block, re.MULTILINE)
    settings = re.findall(r"^ *(.+?): *([^#\n]+?) *(?:#.*)?$", lines, re.MULTILINE)
    assert len(settings) == len(lines.splitlines())
    with chess.engine.SimpleEngine.popen_uci(ENGINE, timeout=PATIENCE) as engine:
        for name, value in settings:
            assert str(engine.options[name].parse(value)) == value


def sections(page: str, mark: str) -> dict[str, str]:
    """The parts of a page under headings that begin with that mark, by the rest of the heading."""
    text = (DOCS / page).read_text("utf-8")
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    names = [name.replace("`", "") for name in parts[::2]]
    return {
        name.removeprefix(mark).strip(): part
        for name, part in zip(names, parts[1::2], strict=True)
        if name.startswith(mark)
    }


def test_page_describes_all_commands_and_their_options() -> None:
    documented = sections("commands.md", "moff ")
    assert documented.keys() == set(commands.NAMES)
    for name, part in documented.items():
        assert options_in(part) == options_in(help_of(name)), name


def test_uci_commands_of_the_page_are_those_of_the_engine() -> None:
    known = {line.removeprefix("info string ").split()[0] for line in call("help").output.splitlines()}
    (part,) = sections("commands.md", "UCI").values()
    assert set(re.findall(r"^\| `(\w+)", part, re.MULTILINE)) == known


@pytest.mark.parametrize("module", ["alphabeta", "quiescence"])
def test_steps_of_the_page_are_those_of_the_code(module: str) -> None:
    source = (ROOT / "search" / f"{module}.py").read_text("utf-8")
    page = (DOCS / "search-steps.md").read_text("utf-8").partition("## Quiescence")
    told = re.findall(r"^\| (\d+) \| (.+?) \|", page[0 if module == "alphabeta" else 2], re.MULTILINE)
    written = re.findall(r"^ +# (\d+)\. (.+?)(?:[.,:]| \()", source, re.MULTILINE)
    assert told == written


def test_pages_describe_every_program_of_the_bench() -> None:
    page = (DOCS / "measuring.md").read_text("utf-8") + (DOCS / "network.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "bench").glob("*.py")):
        if '__name__ == "__main__"' in path.read_text("utf-8"):
            assert f"bench/{path.name}" in page, path.name


def test_page_names_the_programs_of_the_release() -> None:
    built = set(re.findall(r"system: [\w.-]+, name: ([\w-]+)", RELEASE.read_text("utf-8")))
    assert built
    page = (DOCS / "install.md").read_text("utf-8")
    assert set(re.findall(r"`moff-([\w-]+)\.(?:zip|tar\.gz)`", page)) == built


@pytest.mark.skipif(sys.platform != "linux", reason="the workflow runs on Linux")
def test_package_index_gets_no_relative_links(tmp_path: Path) -> None:
    (script,) = re.findall(r"link to\n +run: \|\n((?: {10}.+\n)+)", RELEASE.read_text("utf-8"))
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    names = {"GITHUB_SERVER_URL": "https://a.b", "GITHUB_REPOSITORY": "me/moff", "GITHUB_REF_NAME": "v1"}
    subprocess.run(["sh", "-ec", script], cwd=tmp_path, env=os.environ | names, check=True)
    text = (tmp_path / "README.md").read_text("utf-8")
    links = re.findall(r'(?:\]\(|src="|srcset=")([^)"]+)', text)
    assert len(links) > 15
    for link in links:
        kind = "raw" if link.endswith((".png", ".svg")) else "blob"
        path = link.removeprefix(f"https://a.b/me/moff/{kind}/v1/").partition("#")[0]
        assert (ROOT / path).is_file(), link
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Repository"] == "https://a.b/me/moff"


# Links, pictures, and the rest.

MADE = {*pictures.BOARDS, *pictures.drawings.DRAWINGS, *pictures.plot.PLOTS}
"""The pictures that are made for the pages."""


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8").replace("`", ""), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in headings}


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: page.name)
def test_links_and_pictures_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    targets += re.findall(r'(?:src|srcset|href)="([^"]+)"', text)
    targets += re.findall(r"^:+\{(?:image|figure)\} (\S+)$", text, re.MULTILINE)
    for target in targets:
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists() or (path.parent == DOCS / "pictures" and path.stem in MADE), target
        assert not anchor or anchor in anchors(path), target


def test_table_of_contents_lists_every_page() -> None:
    index = (DOCS / "index.md").read_text("utf-8")
    contents = re.findall(r"^```\{toctree\}\n(.*?)^```$", index, re.MULTILINE | re.DOTALL)
    listed = re.findall(r"^([a-z][\w-]*)$", "".join(contents), re.MULTILINE)
    assert sorted(listed) == sorted(page.stem for page in PAGES[1:] if page.stem != "index")


def test_api_describes_the_whole_library() -> None:
    pages = [page.read_text("utf-8") for page in DOCS.glob("api*.md")]
    named = re.findall(r"automodule:: ([\w.]+)", "".join(pages))
    assert len(named) == len(set(named)) > 20
    for name in named:
        assert (ROOT / (name.replace(".", "/") + ".py")).exists(), name
    homes = {value.__module__ for name in moff.__all__ if hasattr(value := getattr(moff, name), "__module__")}
    assert {home for home in homes if home.startswith("moff.")} <= {*named}


def test_pages_show_every_picture(tmp_path: Path) -> None:
    pictures.make(tmp_path)
    assert {path.stem for path in tmp_path.iterdir()} == MADE
    for path in tmp_path.iterdir():
        ElementTree.parse(path)
        assert "@media(prefers-color-scheme:dark)" in path.read_text("utf-8")
    shown = re.findall(r"\(pictures/([\w-]+)\.svg\)", "".join(page.read_text("utf-8") for page in PAGES))
    assert sorted(shown) == sorted(MADE - {"strength"})
    kept = (DOCS / "strength.svg").read_text("utf-8")
    assert kept == (tmp_path / "strength.svg").read_text("utf-8"), "python docs/pictures.py"


def test_citation_and_changelog_are_of_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {moff.__version__}\n" in citation
    assert f"## [{moff.__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("sphinx", "furo", "myst_parser")),
    reason="the docs extra is not installed",
)
def test_sphinx_builds_the_pages_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr
    for page in PAGES[1:]:
        # Sphinx has pages of its own, such as search.html, which come last.
        title = re.search(r"^# (.+)$", page.read_text("utf-8"), re.MULTILINE)
        html = (tmp_path / f"{page.stem}.html").read_text("utf-8")
        assert f"<h1>{title[1]}<" in html
        images = re.findall(r'<img [^>]*?src="([^"]+)"', html)
        assert len(images) >= len(re.findall(r"\]\([^)]+\.(?:png|svg)\)", page.read_text("utf-8")))
        for image in images:
            assert (tmp_path / image).is_file(), f"{page.name}: {image}"
