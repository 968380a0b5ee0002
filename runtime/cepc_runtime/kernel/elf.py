"""Object code for Linux on x86-64, put into memory: ours asks for nothing but what is in it and the C library."""

from __future__ import annotations

import ctypes
import mmap
import struct
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_RELOCATION: Final = struct.Struct("<QIIq")
_BEGIN: Final = b"\x7fELF\2\1\1"
"""Of 64 bits, the least byte first."""
_OBJECT, _X86_64 = 1, 62
_CONTENT, _SYMBOLS, _RELOCATIONS = 1, 2, 4
"""What a section is."""
_WRITTEN, _IN_MEMORY = 1, 2
"""Flags of one."""
_ADDRESS: Final = 1
"""A relocation that is an address of 64 bits, the only kind that code has which may lie anywhere."""
_NOWHERE, _ITSELF = 0, 0xFFF1
"""In the place of the number of a symbol's section."""


class NotPlacedError(Exception):
    """Code that is of another kind, or that the system does not let us run."""


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    begin: int
    size: int
    link: int
    about: int
    alignment: int
    entry: int


@dataclass(frozen=True, slots=True)
class CodeInMemory:
    """Where a function of the code is, as long as the `memory` is kept."""

    address: int
    memory: Any


def placed(code: bytes, name: str) -> CodeInMemory:
    """Raises NotPlacedError."""
    try:
        return _placed(code, name)
    except (struct.error, LookupError, ValueError, AttributeError, OSError) as error:
        raise NotPlacedError(str(error)) from error


def _placed(code: bytes, name: str) -> CodeInMemory:
    sections = _sections(code)
    offsets, size = _layout(sections)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for number, offset in offsets.items():
        section = sections[number]
        memory[offset : offset + section.size] = code[section.begin : section.begin + section.size]
    (symbols,) = [[*_symbols(code, sections, section)] for section in sections if section.kind == _SYMBOLS]
    address = cache(lambda number: _address(symbols[number], offsets, begin))
    for section in sections:
        if section.kind == _RELOCATIONS and section.about in offsets:
            for at, kind, number, added in _entries(code, section, _RELOCATION):
                if kind != _ADDRESS:
                    raise NotPlacedError(f"relocation {kind}")
                struct.pack_into("<Q", memory, offsets[section.about] + at, address(number) + added)
    entry = [symbol.name for symbol in symbols].index(name)
    _let_run(begin, size)
    return CodeInMemory(address(entry), memory)


def _sections(code: bytes) -> list[_Section]:
    begin, kind, machine, *about = _HEADER.unpack_from(code)
    if not begin.startswith(_BEGIN) or (kind, machine) != (_OBJECT, _X86_64):
        raise NotPlacedError("no object code of x86-64")
    sections, count = about[3], about[9]
    return [_Section(*_SECTION.unpack_from(code, sections + number * _SECTION.size)) for number in range(count)]


def _layout(sections: Sequence[_Section]) -> tuple[dict[int, int], int]:
    """Where in memory each section is that has to be there, by its number, and how much memory that is."""
    found: dict[int, int] = {}
    end = 0
    for number, section in enumerate(sections):
        if section.flags & _IN_MEMORY and section.size:
            if section.kind != _CONTENT or section.flags & _WRITTEN:
                raise NotPlacedError("what is written to, or has to be unwound")
            alignment = max(section.alignment, 1)
            found[number] = -(-end // alignment) * alignment
            end = found[number] + section.size
    return found, max(end, 1)


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int


def _symbols(code: bytes, sections: Sequence[_Section], table: _Section) -> Iterator[_Symbol]:
    texts = sections[table.link].begin
    for name, _about, _other, section, value, _size in _entries(code, table, _SYMBOL):
        yield _Symbol(code[texts + name : code.index(b"\0", texts + name)].decode(), section, value)


def _entries(code: bytes, section: _Section, form: struct.Struct) -> Iterator[tuple[Any, ...]]:
    return form.iter_unpack(code[section.begin : section.begin + section.size])


def _address(symbol: _Symbol, offsets: Mapping[int, int], begin: int) -> int:
    if symbol.section == _NOWHERE:
        found = ctypes.cast(getattr(ctypes.CDLL(None), symbol.name), ctypes.c_void_p).value
        return found or 0
    return symbol.value if symbol.section == _ITSELF else begin + offsets[symbol.section] + symbol.value


def _let_run(begin: int, size: int) -> None:
    """What lies there is read and run from now on, and no longer written."""
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if protect(begin, size, mmap.PROT_READ | mmap.PROT_EXEC):
        raise OSError(ctypes.get_errno(), "memory cannot be run")
