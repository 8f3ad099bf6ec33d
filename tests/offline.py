"""Run a command that the kernel ends as soon as it reaches for a network: python offline.py RULE COMMAND...

A seccomp filter sees what compiled libraries do, too, needs no privileges, and holds for all child processes.
The rule `sockets` ends a process that opens an internet socket, `connections` one that connects to anything,
so that a server can listen and do nothing else.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path
from signal import SIGSYS

CALLS = {"x86_64": (41, 42), "aarch64": (198, 203)}
"""Numbers of the system calls socket and connect."""
ENDED = -SIGSYS
"""The exit status of a command that broke its rule."""

_INET, _INET6 = 2, 10
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # in the language of the kernel's packet filters
_NUMBER, _FIRST = 0, 16  # offsets of the call's number and of its first argument
_ALLOW, _KILL = 0x7FFF0000, 0x80000000


def offline(rule: str) -> list[str]:
    """What to put before a command."""
    return [sys.executable, str(Path(__file__).resolve()), rule]


@cache
def why_not_offline() -> str | None:
    """Why this machine cannot run a command offline; None if it can, which a child process tries."""
    if sys.platform != "linux" or platform.machine() not in CALLS:
        return "the numbers of system calls are known for Linux on x86_64 and aarch64 only"
    return try_filter(offline("sockets"))


def try_filter(prefix: list[str]) -> str | None:
    command = [*prefix, sys.executable, "-c", "import socket; socket.socket()"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == ENDED:
        return None
    return done.stderr.strip() or "the kernel takes a filter and does not apply it"


def _filter(rule: str) -> bytes:
    """Instructions (code, jump if equal, jump if not, value); jumps count from the next instruction."""
    socket, connect = CALLS[platform.machine()]
    checks = {
        "sockets": [
            (_LOAD, 0, 0, _NUMBER),
            (_EQUAL, 0, 3, socket),
            (_LOAD, 0, 0, _FIRST),
            (_EQUAL, 2, 0, _INET),
            (_EQUAL, 1, 0, _INET6),
        ],
        "connections": [(_LOAD, 0, 0, _NUMBER), (_EQUAL, 1, 0, connect)],
    }
    program = [*checks[rule], (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _KILL)]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def _restrict(rule: str) -> None:
    """Restrict this process and all that it will start."""
    instructions = ctypes.create_string_buffer(content := _filter(rule), len(content))
    program = _Program(len(content) // 8, ctypes.addressof(instructions))
    kernel = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    kernel.prctl(no_new_privileges, 1, 0, 0, 0)
    if kernel.prctl(set_seccomp, by_filter, ctypes.byref(program)):
        sys.exit(f"the kernel takes no filter ({os.strerror(ctypes.get_errno())})")


if __name__ == "__main__":
    _restrict(sys.argv[1])
    os.execvp(sys.argv[2], sys.argv[2:])
