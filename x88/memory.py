"""Memory from the operating system: for large tables, and for what must begin at a page."""

import contextlib
import math
import mmap


def allocate(size: int, held: int = 0, purpose: str = "the table") -> mmap.mmap:
    """Allocate zeroed memory, in huge pages where available, since tables are probed at random.

    Pages take no memory until they are touched. `held` bytes are about to be freed. Raises MemoryError,
    which names the purpose, if there is not enough memory.
    """
    needed = f"no {-(-size >> 20)} MB of memory for {purpose}"
    # The system may overcommit and kill the process when the memory is used.
    free = free_memory() + held
    if size > free:
        raise MemoryError(f"{needed}: {int(free) >> 20} MB are free")
    try:
        if hasattr(mmap, "MAP_PRIVATE"):
            memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            memory = mmap.mmap(-1, size)
    except (OSError, OverflowError, ValueError) as error:
        raise MemoryError(f"{needed}: {error}") from None
    if hasattr(memory, "madvise") and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel may have been built without huge pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def free_memory() -> float:
    """The available memory in bytes on Linux, infinity elsewhere."""
    free = math.inf
    with contextlib.suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) << 10
    with (
        contextlib.suppress(OSError, ValueError),
        open("/sys/fs/cgroup/memory.max", encoding="ascii") as file,
    ):
        free = min(free, int(file.read()))
    return free
