"""Run benchmarks: `python -m bench [search|server|recall|analyzer|rollouts|update|warmup …]`.

Results go to bench/out/.
"""

import argparse
import sys

from bench import analyzer, recall, rollouts, search, server, update, warmup

BENCHES = {"search": search.main, "server": server.main, "recall": recall.main, "analyzer": analyzer.main}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        choices=[*BENCHES, "rollouts", "update", "warmup", []],
        help="which to run; all if none is named",
    )
    parser.add_argument("--sizes", default="10000,100000,1000000", help="passages of the generated corpora")
    parser.add_argument("--problems", type=int, default=64, help="problems of the rollouts, five attempts each")
    parser.add_argument("--seeds", type=int, default=3, help="worlds of the warm-up")
    parser.add_argument("--keep", default="", help="folder in which the warmed-up models are kept")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    for name in arguments.names or [*BENCHES, "rollouts", "update", "warmup"]:
        print(f"\n## {name}\n", flush=True)
        if name == "rollouts":
            rollouts.main(arguments.problems)
        elif name == "update":
            update.main()
        elif name == "warmup":
            warmup.main(arguments.seeds, keep=arguments.keep)
        else:
            BENCHES[name](sizes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
