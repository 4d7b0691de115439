"""Moff on a terminal, where a person types."""

import os
import re
import subprocess

import pytest

from tests.client import ENGINE, PATIENCE
from tests.terminal import SIZE, environment, pexpect, shown, stripped
from x88 import build

pytestmark = pytest.mark.slow


def typed(*lines: str) -> list[str]:
    """The lines that Moff prints when a person types some."""
    terminal = {"env": environment(), "encoding": "utf-8", "dimensions": SIZE, "echo": False}
    process = pexpect.spawn(ENGINE[0], ENGINE[1:], timeout=PATIENCE, **terminal)
    for line in lines:
        process.sendline(line)
    process.sendline("quit")
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 0
    return str(process.before).replace("\r", "").splitlines()


def test_a_person_is_greeted_in_one_line_that_points_to_help() -> None:
    lines = [line for line in typed() if "uncompiled" not in line]
    assert len(lines) == 1
    assert re.fullmatch(r"Moff \S+ speaks UCI: type help .*", lines[0])
    assert "moff board" in lines[0]


def test_a_program_is_not_greeted() -> None:
    program, terminal = os.openpty()
    os.write(program, b"quit\n")
    pipe = subprocess.PIPE
    for streams in ({"stdin": terminal, "stdout": pipe}, {"input": b"quit\n", "stdout": terminal}):
        ended = subprocess.run(ENGINE, stderr=pipe, timeout=PATIENCE, **streams)
        assert b"speaks UCI" not in ended.stderr


def test_ctrl_c_ends_on_a_line_of_its_own() -> None:
    process = pexpect.spawn(ENGINE[0], ENGINE[1:], timeout=PATIENCE, env=environment(), echo=False)
    process.sendline("isready")
    process.expect("readyok\r\n")
    process.sendintr()
    process.expect(pexpect.EOF)
    process.close()
    assert (process.before, process.exitstatus) == (b"\r\n", 130)


def test_unknown_words_are_answered_when_a_person_types_them() -> None:
    lines = typed("joho", "e2e4", "go depth 1 deep", "please isready", "", "   ")
    answers = [line for line in lines if line.startswith("info string ") and "uncompiled" not in line]
    assert answers == [
        "info string unknown command 'joho'; help lists the commands",
        "info string unknown command 'e2e4'; help lists the commands",
        "info string go: unknown word 'deep'",
        "info string ignored: 'please'",
    ]


def test_perft_shows_how_far_it_is_and_leaves_nothing_of_it() -> None:
    # Long enough for a bar on any machine.
    leaves, *how = (119060324, "6") if build.compiled else (197281, "4", "--play-leaves")
    text = shown("perft", *map(str, how))
    shares = [int(share) for share in re.findall(r"\] +(\d+) %  \d+ nodes", text)]
    assert shares
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 100
    last = text.split("\r\033[K")[-1]
    assert re.fullmatch(rf"{leaves} nodes .*\n", last)
    assert "\033[K" not in shown("perft", "1"), "a short count needs no bar"
    assert stripped(last) == last


def test_perft_draws_no_bar_on_a_terminal_that_cannot_rewrite_a_line() -> None:
    text = shown("perft", "6" if build.compiled else "4", TERM="dumb")
    assert "\r" not in text
    assert "\033" not in text
