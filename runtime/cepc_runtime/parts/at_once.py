"""Several tasks on a few threads of this process. Imports no numpy."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from threading import Event
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from typing import TypeVar

    Found = TypeVar("Found")
    Item = TypeVar("Item")


def cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def tried(tasks: Sequence[Callable[[], Found]], threads: int, over: Event | None = None) -> list[Future[Found]]:
    """What became of the tasks, in their order. When one fails, or this thread is interrupted, no other is begun, and
    `over` is set, for those to look at that are not done. None is running any more when this returns, or raises.
    """
    over = over or Event()

    def begun(task: Callable[[], Found]) -> Found:
        if over.is_set():  # the thread that waits below may hear of it later
            raise CancelledError
        try:
            return task()
        except BaseException:
            over.set()
            raise

    with ThreadPoolExecutor(max(threads, 1), thread_name_prefix="cepc") as pool:
        futures: list[Future[Found]] = []
        try:
            for task in tasks:
                futures.append(pool.submit(begun, task))
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            if len(futures) < len(tasks) or not all(future.done() for future in futures):
                over.set()
                for future in futures:
                    future.cancel()
    return futures


def at_once(tasks: Sequence[Callable[[], Found]], threads: int) -> list[Found]:
    """What the tasks give. Raises what the first of them that fails does."""
    if threads < 2 or len(tasks) < 2:
        return [task() for task in tasks]
    found = []
    for task, future in zip(tasks, tried(tasks, threads), strict=True):
        try:
            found.append(future.result())
        except CancelledError:  # a later one failed while this was about to begin
            found.append(task())
    return found


def in_turn(items: Iterable[Item], work: Callable[[Item], Found], threads: int) -> Iterator[tuple[Item, Found]]:
    """Each item with what the work makes of it, in order, while the next ones are fetched by this thread and worked on
    by others. An error comes where it would come without these.
    """
    if threads < 2:
        yield from ((item, work(item)) for item in items)
        return
    waiting: deque[tuple[Item, Future[Found]]] = deque()
    fetched, failure = iter(items), None
    with ThreadPoolExecutor(threads, thread_name_prefix="cepc") as pool:
        while True:
            try:
                item = next(fetched)
            except StopIteration:
                break
            except Exception as error:  # the work on an item before it may fail, too
                failure = error
                break
            waiting.append((item, pool.submit(work, item)))
            if len(waiting) > threads:
                first, found = waiting.popleft()
                yield first, found.result()
        yield from ((first, found.result()) for first, found in waiting)
    if failure is not None:
        raise failure
