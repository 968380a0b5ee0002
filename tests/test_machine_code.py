"""Machine code: what it is given, that it is made once, and what is kept."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from cepc_runtime.enumerate.walk import loop as walk_loop
from cepc_runtime.kernel import digits, loop, scatter
from cepc_runtime.kernel.adjacent import loop as adjacent_loop
from cepc_runtime.kernel.arguments import Words, form_of
from cepc_runtime.kernel.machine_code import MachineCode, machine_code
from cepc_runtime.kernel.only_maker import only_maker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cepc_runtime.numbers.columns import Ints

MODULE = """from __future__ import annotations
from typing import NamedTuple
import numpy as np
INLINED = ()
class {name}(NamedTuple):
    x: int
    of: np.ndarray
def run(given: {name}, table: np.ndarray, wanted: bool) -> int:
    total = given.x
    for i in range(len(table)):
        table[i, 1] = 2.5
        total += given.of[i] if wanted else 0
    return total
"""
USED = """
import sys; sys.path.insert(0, sys.argv[1])
import made
import numpy as np
from cepc_runtime.kernel.machine_code import machine_code
run, table = machine_code(made), np.zeros((3, 2))
given = getattr(made, sys.argv[2])(1, np.arange(3, dtype=np.int32))
assert [run(given, table, wanted) for wanted in (True, False)] == [4, 1]
assert table.tolist() == [[0, 2.5]] * 3
print("numba" in sys.modules)
"""


def use(folder: Path, name: str) -> str:
    """A module with a record of this name, in a process of its own: whether it needed numba."""
    (folder / "made.py").write_text(MODULE.format(name=name))
    return subprocess.run([sys.executable, "-c", USED, folder, name], check=True, capture_output=True, text=True).stdout


def kept(folder: Path) -> list[Path]:
    return list((folder / "__pycache__").glob("made-*.o"))


@pytest.mark.parametrize("module", [loop, adjacent_loop, scatter, digits, walk_loop], ids=lambda m: m.__name__)
def test_there_is_machine_code_of_each_loop(module: object) -> None:
    assert isinstance(machine_code(module), MachineCode)


def test_a_second_process_loads_what_the_first_has_made_and_needs_no_numba(tmp_path: Path) -> None:
    assert [use(tmp_path, "Given") for _ in range(2)] == ["True\n", "False\n"]


FROM_THE_END = """
import sys; sys.path.insert(0, sys.argv[1])
import made
import numba, numpy as np
from cepc_runtime.kernel.machine_code import machine_code
machine_code(made)(made.Given(1, np.arange(3, dtype=np.int32)), np.zeros((3, 2)), True)
print(numba.njit(lambda of, at: of[at])(np.arange(3), -1))
"""


def test_an_index_of_others_may_count_from_the_end(tmp_path: Path) -> None:
    """What numba leaves out for us, it does not leave out for those who use it after us."""
    (tmp_path / "made.py").write_text(MODULE.format(name="Given"))
    found = subprocess.run([sys.executable, "-c", FROM_THE_END, tmp_path], check=True, capture_output=True, text=True)
    assert found.stdout == "2\n"


IN_THREADS = """
import sys; sys.path.insert(0, sys.argv[1])
import made
import numpy as np
from concurrent.futures import ThreadPoolExecutor
from cepc_runtime.kernel.machine_code import machine_code
given = made.Given(1, np.arange(3, dtype=np.int32))
with ThreadPoolExecutor(8) as threads:
    found = list(threads.map(lambda n: machine_code(made)(given, np.zeros((3, 2)), n % 2 == 0), range(8)))
assert found == [4, 1] * 4
"""


def test_threads_that_want_it_at_once_wait_for_the_first(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(MODULE.format(name="Given"))
    done = subprocess.run([sys.executable, "-c", IN_THREADS, tmp_path], check=False)
    assert done.returncode == 0
    assert len(kept(tmp_path)) == 1


AT_ONCE = """
import sys; sys.path.insert(0, sys.argv[1])
import made, time
import numpy as np
from pathlib import Path
from cepc_runtime.kernel import machine_code
translate = machine_code.translate
def slow(*given):
    Path(sys.argv[2]).touch()
    time.sleep(1)
    return translate(*given)
machine_code.translate = slow
machine_code.machine_code(made)(made.Given(1, np.arange(3, dtype=np.int32)), np.zeros((3, 2)), True)
"""


@pytest.mark.long
def test_processes_that_want_it_at_once_wait_for_the_first(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(MODULE.format(name="Given"))
    making = [tmp_path / name for name in ("first", "second", "third")]
    processes = [subprocess.Popen([sys.executable, "-c", AT_ONCE, tmp_path, file]) for file in making]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert sum(file.exists() for file in making) == 1
    assert len(kept(tmp_path)) == 1
    assert [file.name for file in (tmp_path / "__pycache__").iterdir() if file.name.startswith(".")] == []


def test_one_that_was_stopped_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    file = tmp_path / "made.o"
    with only_maker(file), only_maker(file, patience=0.1):
        file.touch()
    assert [*tmp_path.iterdir()] == [file]


def test_where_nothing_can_be_written_nobody_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with only_maker(tmp_path / "file" / "made.o"):
        assert [*tmp_path.iterdir()] == [tmp_path / "file"]


@pytest.mark.long
def test_what_was_kept_of_another_source_is_not_looked_at(tmp_path: Path) -> None:
    assert [use(tmp_path, name) for name in ("Older", "Renamed")] == ["True\n", "True\n"]
    assert len(kept(tmp_path)) == 2


@pytest.mark.long
@pytest.mark.parametrize(
    "harm", [lambda code: code[:-1], lambda code: code[:0], lambda code: code[:900] + b"?" + code[901:]], ids=["cut", "empty", "changed"]
)  # fmt: skip
def test_a_file_that_is_not_as_it_was_written_is_made_again(tmp_path: Path, harm: Callable[[bytes], bytes]) -> None:
    use(tmp_path, "Given")
    (file,) = kept(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(harm(whole))
    assert use(tmp_path, "Given") == "True\n"
    assert file.read_bytes() == whole


class Pair(NamedTuple):
    first: Ints
    second: Ints


def test_an_argument_is_addresses_lengths_and_numbers() -> None:
    matrix, row = np.zeros((2, 3), dtype=np.int32), np.zeros(5, dtype=np.int64)
    given = (Pair(row, row), matrix, True, np.int64(7))
    found = Words([], [])
    found.add(given)
    assert found.words == [row.ctypes.data, 5] * 2 + [matrix.ctypes.data, 2, 3, 1, 7]
    assert found.arrays == [row.dtype.num << 8 | 1] * 2 + [matrix.dtype.num << 8 | 2]
    assert " ".join(map(str, map(form_of, given))) == "Pair(<i8·1 <i8·1) <i4·2 i i"


def test_an_array_that_is_not_in_one_piece_is_no_argument() -> None:
    with pytest.raises(ValueError, match="in one piece"):
        Words([], []).add((np.zeros((2, 3))[:, 1],))


@pytest.mark.parametrize("argument", [1.5, None, "a"])
def test_what_machine_code_is_never_given_is_no_argument(argument: object) -> None:
    with pytest.raises(TypeError, match="no argument of machine code"):
        form_of(argument)
    with pytest.raises(TypeError):
        Words([], []).add((argument,))
