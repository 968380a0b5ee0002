"""What shared execution gains: `python -m bench.gains NAME … [--quick] [--write]`.

`--quick` takes sizes of seconds; `--write` puts tables and pictures into the documentation.
"""

import argparse
import importlib

NAMES = ("sharon", "gloria", "hamlet", "motto", "windows", "groups", "cut", "hot")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    for name in given.names:
        report = importlib.import_module(f"bench.gains.{name}").report(given.quick)
        print(f"{name}\n\n{report.text()}\n", flush=True)
        if given.write:
            report.write()


if __name__ == "__main__":
    main()
