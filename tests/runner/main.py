# SPDX-License-Identifier: MIT
"""scripts/test [--list] [--quick] [--sanitize|--no-sanitize] [--runtimes] [--whole-service] [--slowest N] [NAME...]

Builds and tests everything. NAME chooses tests: a part of a name as --list prints it, or a pattern with * and ?.

  --list         print the name of every test, one a line; run none
  --quick        one compiler and no memory checkers
  --sanitize     also with --quick: the build by clang with the address and undefined behaviour sanitizers
  --no-sanitize  neither sanitizers nor valgrind
  --runtimes     the host and every way out of the sandbox also on Node 22 and 26 and on Bun
  --whole-service  all integration tests also against the sanitized service, not only a part of them
  --slowest N    name in the end the N tests that took longest

Suites: build (warnings are errors), house (rules for the source), unit, host (JavaScript; host-node22, host-node26: on another runtime),
integration, escape and system (beside a private systemd), sanitized-service (a part of integration once more, against the sanitized
service), sanitize and valgrind (every compiled test program once more; one test a program).
Jobs of all suites run beside one another, the longest first. JOBS=N limits how many work at once (else as many as there are
processors); of what mostly waits there is one more."""

import argparse
import signal
import sys
import threading

import build
import processes
import runtimes
import suites
from choice import Choice
from pool import Job, Pool
from programs import Builds
from report import Report
from tap import PASSED

BUILD_SECONDS = 600


def parse_arguments():
    parser = argparse.ArgumentParser(prog='scripts/test', usage=__doc__)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--sanitize', action=argparse.BooleanOptionalAction)
    parser.add_argument('--runtimes', action='store_true')
    parser.add_argument('--whole-service', action='store_true')
    parser.add_argument('--slowest', type=int, default=0)
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    if options.sanitize is None:
        options.sanitize = not options.quick
    return options


def build_tree(tree, report, jobs=None):
    """True when the tree can be used."""
    result, seconds = tree.build(jobs)
    report.add('build', result)
    report.say(f'{"build":12} {tree.title:32} {result.outcome:24} {seconds:6.1f} s')
    return result.outcome == PASSED


def list_names(options):
    """To name the tests of a program one must ask it, so it has to be there; that takes a moment the first time. Every tree has the
    same programs: one is enough to name them."""
    result, _ = build.PLAIN.build()
    if result.outcome != PASSED:
        print(result.output, file=sys.stderr)
        return 1
    found = suites.all_suites(options.quick, options.sanitize, options.runtimes, options.whole_service)
    trees = [build.PLAIN] + ([build.SANITIZED] if options.sanitize else [])
    for suite in [Builds(trees), *found]:
        if getattr(suite, 'tree', None):
            suite.tree = build.PLAIN
        for name in suite.names():
            print(f'{suite.name}:{name}')
    return 0


def jobs_of(found, tree, choice, report):
    return [job for suite in found if suite.tree is tree for job in suite.jobs(choice, report)]


def run(options, report):
    """Everything needs the first tree, which is built with all there is. The second is built while the first is tested."""
    choice = Choice(options.names)
    fetching = threading.Thread(target=runtimes.fetch, args=(() if options.quick else runtimes.OTHERS,), daemon=True)
    fetching.start()
    usable = build_tree(build.PLAIN, report)
    fetching.join()
    found = suites.all_suites(options.quick, options.sanitize, options.runtimes, options.whole_service)

    jobs = jobs_of(found, None, choice, report)
    if usable:
        jobs += jobs_of(found, build.PLAIN, choice, report)
    if options.sanitize:
        share = max(build.processors() // 2, 1) if jobs else None
        jobs.append(Job(lambda: jobs_of(found, build.SANITIZED, choice, report) if build_tree(build.SANITIZED, report, share) else (),
                        BUILD_SECONDS))
    Pool(build.processors()).run(jobs)


def on_signal(_number, _frame):
    raise KeyboardInterrupt


def main():
    options = parse_arguments()
    if options.list:
        return list_names(options)

    report = Report()
    signal.signal(signal.SIGTERM, on_signal)
    try:
        run(options, report)
    except KeyboardInterrupt:
        report.say('broken off')
        return 130
    finally:
        processes.end_all()
    return report.finish(options.slowest)


if __name__ == '__main__':
    sys.exit(main())
