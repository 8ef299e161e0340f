"""Run benchmarks: `python -m bench [search|server|recall|analyzer …] [--sizes 10000,100000]`.

Results go to bench/out/.
"""

import argparse
import sys

from bench import analyzer, recall, search, server

BENCHES = {"search": search.main, "server": server.main, "recall": recall.main, "analyzer": analyzer.main}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHES, []], help="which to run; all if none is named")
    parser.add_argument("--sizes", default="10000,100000,1000000", help="passages of the generated corpora")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    for name in arguments.names or BENCHES:
        print(f"\n## {name}\n", flush=True)
        BENCHES[name](sizes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
