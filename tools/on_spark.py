"""`make demo ENGINE=spark`: an example's program as a Spark job, and its rows beside those of `cepc run`.

python tools/on_spark.py PROGRAM EVENTS FOLDER
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq

from cepc.java import spark_environment

LINES = 32  # of the job: what it says of itself


def main(program: str, events: str, out: Path) -> int:
    """1 where the job's rows are others."""
    cepc = [sys.executable, "-m", "cepc"]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    said(*cepc, "compile", program, "-o", f"{out}/job.py")
    text = (out / "job.py").read_text().splitlines()
    print("\n".join(["", *text[:LINES], f"… {len(text) - LINES:,} more lines in {out}/job.py", ""]), flush=True)
    submit = str(Path(sys.executable).with_name("spark-submit"))
    quiet = ["--conf", "spark.log.level=ERROR", "--conf", "spark.ui.enabled=false"]
    said(submit, *quiet, f"{out}/job.py", "--input", events, "--output", f"{out}/spark")
    said(*cepc, "run", program, "--events", events, "--output", f"{out}/local")
    differing = [
        path.stem for path in sorted(out.glob("local/*.parquet")) if not equal(path, out / "spark" / path.stem)
    ]
    print(f"other rows for {', '.join(differing)}" if differing else "The job's rows are those of `cepc run`.")
    return bool(differing)


def said(*command: str) -> None:
    shown = [Path(command[0]).name if one == command[0] else one for one in command]
    print("$", *(["cepc", *shown[3:]] if command[1:3] == ("-m", "cepc") else shown), flush=True)
    subprocess.run(command, check=True, env=os.environ | spark_environment())


def equal(local: Path, spark: Path) -> bool:
    one, other = pq.read_table(local), ds.dataset(spark, format="parquet").to_table()
    return rows(one) == rows(other.cast(one.schema))


def rows(table: object) -> list[str]:
    return sorted(map(repr, table.to_pylist()))  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
