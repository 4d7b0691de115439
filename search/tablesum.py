"""The checksum at the end of a tablebase file.

Source: Ronald de Man's generator of the tables ("syzygy1/tb", 2013). Each 16 MiB of a file are hashed by
CityHashCrc256, and all these hashes together by CityHashCrc128, which gives the 16-byte checksum. CityHash
1.0 is by Geoff Pike and Jyrki Alakuijala (Google, 2011); its CRC is CRC-32C, without the usual inversions.
"""

from collections.abc import Callable
from struct import iter_unpack, pack, unpack, unpack_from
from typing import BinaryIO, Final

SIZE: Final = 16
"""Bytes of a checksum."""

CHUNK: Final = 1 << 24
"""Bytes hashed as one piece."""

PIECE: Final = 240 << 8
"""Bytes hashed between two progress reports."""

ROUND: Final = 240
"""Bytes of a round of CityHashCrc256, which has six steps."""

STEP: Final = 40
LONGEST_WITHOUT_CRC: Final = 900
"""Up to this length CityHashCrc128 is CityHash128."""

WORD: Final = (1 << 64) - 1
K0: Final = 0xC3A5C85C97CB3127
K1: Final = 0xB492B66FBE98F273
K3: Final = 0xC949D7C7509E6557
MURMUR: Final = 0x9DDFEA08EB382D69
"""CityHash's multipliers."""


def _crc_tables() -> list[list[int]]:
    """[n][byte]: the CRC-32C of a byte followed by n zero bytes."""
    tables = [list(range(256))]
    for byte in range(256):
        for _ in range(8):
            crc = tables[0][byte]
            tables[0][byte] = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    for _ in range(7):
        tables.append([crc >> 8 ^ tables[0][crc & 255] for crc in tables[-1]])
    return tables


CRC: Final = _crc_tables()


def checksum(stream: BinaryIO, size: int, progress: Callable[[int], None]) -> bytes:
    """The checksum of the next `size` bytes, a multiple of 64; `progress` is called with the number of bytes
    just hashed.

    Raises ValueError if there are fewer.
    """
    hashes = b""
    for start in range(0, size, CHUNK):
        chunk = stream.read(min(CHUNK, size - start))
        if len(chunk) < min(CHUNK, size - start):
            raise ValueError("it was truncated while being read")
        hashes += city_crc_256(chunk, progress)
    return city_crc_128(hashes)


def city_crc_128(text: bytes) -> bytes:
    """CityHashCrc128, for lengths of at least 32."""
    if len(text) <= LONGEST_WITHOUT_CRC:
        return _city_128(text)
    return city_crc_256(text)[16:]


def city_crc_256(text: bytes, progress: Callable[[int], None] = lambda _: None) -> bytes:
    """CityHashCrc256; `progress` is called now and then with the number of bytes just hashed."""
    length = len(text)
    seed = 0
    if length < ROUND:
        seed = ~length & 0xFFFFFFFF
        text = text.ljust(ROUND, b"\0")
        length = ROUND
    state = _Crc256(text, length, seed)
    whole = length - length % ROUND
    view = memoryview(text)
    for start in range(0, whole, PIECE):
        end = min(start + PIECE, whole)
        state.rounds(view[start:end])
        progress(end - start)
    rest = length - whole
    for start in range(whole, length - STEP + 1, STEP):
        state.step(view[start : start + STEP])
    if rest % STEP:
        state.step(view[length - STEP : length])
    return state.result()


class _Crc256:
    """The state of CityHashCrc256: six words that are mixed, and the CRCs of five of them."""

    def __init__(self, text: bytes, length: int, seed: int) -> None:
        second = _word(text, 96) + K0 & WORD
        self._first = _mix(second, length)
        self._second = _word(text, 120) * K0 + length & WORD
        self._words = (
            _word(text, 56) + K0 & WORD,
            second,
            self._first,
            self._second,
            _word(text, 184) + seed & WORD,
            self._first + self._second & WORD,
        )
        self._crcs = [seed, 0, 0, 0, 0]

    def rounds(self, text: memoryview) -> None:
        """Process whole rounds, whose steps rotate by different amounts in turn."""
        a, b, c, d, e, t = self._words
        mixed: list[int] = []
        for v0, v1, v2, v3, v4, w0, w1, w2, w3, w4 in iter_unpack("<10Q", text):
            a, b, c, d, e, t = (
                (b >> 40 | b << 24) + v0 & WORD,
                (c >> 26 | c << 38) + v1 & WORD,
                (d >> 40 | d << 24) + v2 & WORD,
                (e >> 32 | e << 32) + v3 & WORD,
                (t >> 24 | t << 40) + v4 & WORD,
                a,
            )
            mixed += (a, b, c, d, e)
            a, b, c, d, e, t = (
                (b >> 41 | b << 23) * K0 + w0 & WORD,
                (c >> 27 | c << 37) * K0 + w1 & WORD,
                (d >> 41 | d << 23) * K0 + w2 & WORD,
                (e >> 33 | e << 31) * K0 + w3 & WORD,
                (t >> 25 | t << 39) * K0 + w4 & WORD,
                a,
            )
            mixed += (a, b, c, d, e)
        self._words = a, b, c, d, e, t
        self._add(mixed)

    def step(self, text: memoryview) -> None:
        """Process a step after the last whole round."""
        a, b, c, d, e, t = self._words
        w0, w1, w2, w3, w4 = unpack("<5Q", text)
        self._words = (
            (b >> 41 | b << 23) * K0 + w0 & WORD,
            (c >> 27 | c << 37) * K0 + w1 & WORD,
            (d >> 41 | d << 23) * K0 + w2 & WORD,
            (e >> 33 | e << 31) * K0 + w3 & WORD,
            (t >> 25 | t << 39) * K0 + w4 & WORD,
            a,
        )
        self._add([*self._words[:5]])

    def _add(self, mixed: list[int]) -> None:
        """Feed words to the five CRCs in turn."""
        t0, t1, t2, t3, t4, t5, t6, t7 = CRC
        for n in range(5):
            crc = self._crcs[n]
            for word in mixed[n::5]:
                x = crc ^ word
                crc = (
                    t7[x & 255]
                    ^ t6[x >> 8 & 255]
                    ^ t5[x >> 16 & 255]
                    ^ t4[x >> 24 & 255]
                    ^ t3[x >> 32 & 255]
                    ^ t2[x >> 40 & 255]
                    ^ t1[x >> 48 & 255]
                    ^ t0[x >> 56]
                )
            self._crcs[n] = crc

    def result(self) -> bytes:
        """The hash."""
        a, b, c, d, e, t = self._words
        f, g, h, i, j = self._crcs
        j += i << 32
        a = _mix(a, j)
        h += g << 32
        b = b + h & WORD
        c = _mix(c, f) + i & WORD
        d = _mix(d, e + self._first & WORD)
        j = j + e & WORD
        i = i + _mix(h, t) & WORD
        e = _mix(a, d) + j & WORD
        f = _mix(b, c) + a & WORD
        g = _mix(j, i) + c & WORD
        first = e + f + g + h & WORD
        a = _fold((a + g) * K0 & WORD) * K0 + b & WORD
        second = self._second + a + first & WORD
        a = _fold(a * K0 & WORD) * K0 + c & WORD
        third = a + second & WORD
        a = _fold((a + e) * K0 & WORD) * K0 & WORD
        return pack("<4Q", first, second, third, a + third & WORD)


def _word(text: bytes, at: int) -> int:
    found: int = unpack_from("<Q", text, at)[0]
    return found


def _rotate(word: int, count: int) -> int:
    return (word >> count | word << 64 - count) & WORD


def _fold(word: int) -> int:
    return word ^ word >> 47


def _mix(low: int, high: int) -> int:
    """CityHash's hash of two words."""
    a = _fold((low ^ high) * MURMUR & WORD)
    return _fold((high ^ a) * MURMUR & WORD) * MURMUR & WORD


def _city_128(text: bytes) -> bytes:
    """CityHash128, for lengths of at least 32."""
    low, high = _word(text, 0) ^ K3, _word(text, 8)
    text = text[16:]
    return pack("<2Q", *(_short_128 if len(text) < 128 else _long_128)(text, low, high))


def _short_128(text: bytes, a: int, b: int) -> tuple[int, int]:
    """CityHash128 of 16 to 127 bytes, after Murmur, with two words as seed."""
    length = len(text)
    if length == 16:
        first, second = unpack("<2Q", text)
        a = _fold(a * K1 & WORD) * K1 & WORD
        c = b * K1 + (_mix(first, _rotate(second + 16 & WORD, 16)) ^ second) & WORD
        d = _fold(a + first & WORD)
    else:
        c = _mix(_word(text, length - 8) + K1 & WORD, a)
        d = _mix(b + length & WORD, c + _word(text, length - 16) & WORD)
        a = a + d & WORD
        for at in range(0, length - 16, 16):
            a = (a ^ _fold(_word(text, at) * K1 & WORD) * K1 & WORD) * K1 & WORD
            b ^= a
            c = (c ^ _fold(_word(text, at + 8) * K1 & WORD) * K1 & WORD) * K1 & WORD
            d ^= c
    a, b = _mix(a, c), _mix(d, b)
    return a ^ b, _mix(b, a)


def _long_128(text: bytes, x: int, y: int) -> tuple[int, int]:
    """CityHash128 of at least 128 bytes, with two words as seed."""
    length = len(text)
    z = length * K1 & WORD
    v0 = _rotate(y ^ K1, 49) * K1 + _word(text, 0) & WORD
    v1 = _rotate(v0, 42) * K1 + _word(text, 8) & WORD
    w0 = _rotate(y + z & WORD, 35) * K1 + x & WORD
    w1 = _rotate(x + _word(text, 88) & WORD, 53) * K1 & WORD
    rest = length % 128
    for at in range(0, length - rest, 64):
        x = _rotate(x + y + v0 + _word(text, at + 8) & WORD, 37) * K1 & WORD
        y = _rotate(y + v1 + _word(text, at + 48) & WORD, 42) * K1 & WORD
        x ^= w1
        y = y + v0 + _word(text, at + 40) & WORD
        z = _rotate(z + w0 & WORD, 33) * K1 & WORD
        v0, v1 = _weak(text, at, v1 * K1 & WORD, x + w0 & WORD)
        w0, w1 = _weak(text, at + 32, z + w1 & WORD, y + _word(text, at + 16) & WORD)
        x, z = z, x
    x = x + _rotate(v0 + z & WORD, 49) * K0 & WORD
    z = z + _rotate(w0, 37) * K0 & WORD
    for at in range(length - 32, length - rest - 32, -32):
        y = _rotate(x + y & WORD, 42) * K0 + v1 & WORD
        w0 = w0 + _word(text, at + 16) & WORD
        x = x * K0 + w0 & WORD
        z = z + w1 + _word(text, at) & WORD
        w1 = w1 + v0 & WORD
        v0, v1 = _weak(text, at, v0 + z & WORD, v1)
    x = _mix(x, v0)
    y = _mix(y + z & WORD, w0)
    return _mix(x + v1 & WORD, w1) + y & WORD, _mix(x + w1 & WORD, y + v1 & WORD)


def _weak(text: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """CityHash's quick hash of 32 bytes and two words."""
    w, x, y, z = unpack_from("<4Q", text, at)
    a = a + w & WORD
    b = _rotate(b + a + z & WORD, 21)
    c = a
    a = a + x + y & WORD
    b = b + _rotate(a, 44) & WORD
    return a + z & WORD, b + c & WORD
