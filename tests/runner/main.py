# SPDX-License-Identifier: MIT
"""scripts/test [--list] [--quick] [--sanitize|--no-sanitize] [--runtimes] [--slowest N] [NAME...]

Builds and tests everything. NAME chooses tests: a part of a name as --list prints it, or a pattern with * and ?.

  --list         print the name of every test, one a line; run none
  --quick        one compiler and no memory checkers
  --sanitize     also with --quick: the build by clang with the address and undefined behaviour sanitizers
  --no-sanitize  neither sanitizers nor valgrind
  --runtimes     the host and every way out of the sandbox also on Node 22 and 26 and on Bun
  --slowest N    name in the end the N tests that took longest

Suites: build (warnings are errors), house (rules for the source), unit, host (JavaScript; host-node22, host-node26: on another runtime),
integration, escape and system (beside a private systemd), sanitize and valgrind (every compiled test program once more; one test a program).
JOBS=N limits how many processes work at once."""

import argparse
import sys

import build
import suites
from report import Report


def parse_arguments():
    parser = argparse.ArgumentParser(prog='scripts/test', usage=__doc__)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--sanitize', action=argparse.BooleanOptionalAction)
    parser.add_argument('--runtimes', action='store_true')
    parser.add_argument('--slowest', type=int, default=0)
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    if options.sanitize is None:
        options.sanitize = not options.quick
    return options


def build_tree(tree, report):
    """True when the tree can be used."""
    result, seconds = tree.build()
    report.add('build', result)
    report.say(f'{"build":12} {tree.title:32} {result.outcome:24} {seconds:6.1f} s')
    return result.outcome == 'passed'


def list_names(trees, chosen):
    """To name the tests of a program one must ask it, so it has to be there; that takes a moment the first time."""
    for tree in trees:
        result, _ = tree.build()
        if result.outcome != 'passed':
            print(result.output, file=sys.stderr)
            return 1
    for suite in chosen:
        for name in suite.names():
            print(f'{suite.name}:{name}')
    return 0


def main():
    options = parse_arguments()
    trees = [build.PLAIN] + ([build.SANITIZED] if options.sanitize else [])
    chosen = suites.all_suites(options.quick, options.sanitize, options.runtimes)
    if options.list:
        # Every tree has the same programs: one build is enough to name them.
        for suite in chosen:
            if getattr(suite, 'tree', None):
                suite.tree = build.PLAIN
        return list_names([build.PLAIN], [suites.Builds(trees), *chosen])

    report = Report()
    choice = suites.Choice(options.names)
    usable = {tree.folder for tree in trees if build_tree(tree, report)}
    for suite in chosen:
        tree = getattr(suite, 'tree', None)
        if tree is None or tree.folder in usable:
            suite.run(choice, report)
    return report.finish(options.slowest)


if __name__ == '__main__':
    sys.exit(main())
