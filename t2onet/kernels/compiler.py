"""Compile kernels and cache the result between runs."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.runtime import nrt


def cache_folder() -> Path:
    """Folder of compiled code: T2O_CACHE_DIR, or the user's cache folder."""
    if chosen := os.environ.get("T2O_CACHE_DIR"):
        return Path(chosen)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "t2onet" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "t2onet"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "t2onet"


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


@contextmanager
def _numba_cache_in(folder: Path) -> Iterator[None]:
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


@cache
def _digest_sources() -> str:
    """Changes with all that kernels take code or constants from; Numba looks at a kernel's own file alone."""
    package = Path(__file__).parent.parent
    files = [*sorted(package.glob("kernels/*.py")), *sorted(package.glob("operations/*.py"))]
    digest = hashlib.sha256()
    for path in (*files, package / "image" / "colour.py"):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


_CACHE_ENABLED = _is_writable(cache_folder())


class _KernelCache(FunctionCache):
    """In place of the cache of `cache=True`: loads compiled code without importing what compiles.

    Numba would import that first, which takes longer than loading all kernels.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        nrt.rtsys.initialize(target_context)  # the memory of arrays that kernels make
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def compile_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, compiled on its first call; cached on disk where the cache folder is writable.

    Products and sums may be fused, which is the same in any loop; nothing else may be reordered.
    """
    return _compile(function, fastmath={"contract"})


def compile_sum_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like `compile_kernel`, for sums over pixels: the compiler may reorder additions."""
    return _compile(function, fastmath={"reassoc", "contract", "nsz"})


def compile_inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like `compile_kernel`, for what a kernel does with one pixel: a call in a loop would not vectorise."""
    return _compile(function, fastmath={"contract"}, inlined=True)


def _compile(function: Callable[..., Any], fastmath: set[str], inlined: bool = False) -> Callable[..., Any]:
    kernel = numba.njit(nogil=True, error_model="numpy", fastmath=fastmath, forceinline=inlined)(function)
    if _CACHE_ENABLED:
        with _numba_cache_in(cache_folder() / _digest_sources()):
            kernel._cache = _KernelCache(function)  # type: ignore[attr-defined, no-untyped-call]
    return kernel
