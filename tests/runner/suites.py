# SPDX-License-Identifier: MIT
"""All suites, in the order in which they are listed."""

import sys

import build
import runtimes
from programs import Checked, Host, Units
from scripts import Scripts, administrator, integration, person, system

SANITIZERS = {
    'ASAN_OPTIONS': 'detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:check_initialization_order=1',
    'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1',
    'LSAN_OPTIONS': 'print_suppressions=0',
    'G_SLICE': 'always-malloc',
}
VALGRIND = (
    'valgrind', '--quiet', '--error-exitcode=99', '--leak-check=full', '--errors-for-leak-kinds=definite',
    '--show-leak-kinds=definite', '--child-silent-after-fork=yes', '--num-callers=30',
    '--suppressions=/usr/share/glib-2.0/valgrind/glib.supp')


# What makes the service begin, give up and free most: the parts of the integration tests that always run against the sanitized service too
SERVICE_PARTS = ('adversary_rights.', 'any_arguments.', 'calls.', 'changes.', 'core_calls.', 'hooks.FailClosed.', 'hosts.Misbehaviour.', 'interleaving.', 'teardown.')
# Judged by a sum of memory, or by how a unit's own service ends: those measure the sanitizer
NO_SERVICE_PARTS = ('isolation.', 'many_cards.', 'churn.')


def sanitized_service(every_part):
    """The integration tests against the service of the sanitized tree; what else belongs to it comes from the plain one."""
    environment = {**SANITIZERS, 'ASAN_OPTIONS': SANITIZERS['ASAN_OPTIONS'].replace('detect_leaks=1', 'detect_leaks=0'),
                   'CODEWHALE_TEST_DAEMON': str(build.SANITIZED.folder / 'codewhale-extensionsd')}
    return integration(name='sanitized-service', environment=environment, tree=build.SANITIZED,
                       only=('',) if every_part else SERVICE_PARTS, without=NO_SERVICE_PARTS)


def other_hosts(everything):
    """The host on the other Nodes: all of its tests, or whether it comes up there with its lock and serves the samples. On Bun it runs
    nothing, which the tests of the host show by themselves."""
    return [Host(build.PLAIN, name, None if everything else ('launch', 'samples')) for name in runtimes.OTHERS if name.startswith('node')]


def checked(quick):
    found = [Checked('sanitize', build.SANITIZED, environment=SANITIZERS)]
    if not quick:
        found.append(Checked('valgrind', build.PLAIN, VALGRIND, {'G_SLICE': 'always-malloc', 'G_DEBUG': 'gc-friendly'}, 20))
    return found


def all_suites(quick, sanitize, every_runtime=False, whole_service=False):
    return [
        Scripts('house', 'tests/house'), Units(build.PLAIN), Host(build.PLAIN), Scripts('types', 'tests/types', tree=build.PLAIN),
        system(), person(),
        *(other_hosts(every_runtime) if every_runtime or not quick else []),
        integration(), administrator(),
        integration('escape', asks_runtime=True, environment=runtimes.all_runtimes() if every_runtime else None),
        # To count the descriptors of the service, which is not dumpable: the folder belongs to root.
        integration('soak', harness_words=('--ambient', 'CAP_DAC_READ_SEARCH')),
        *([sanitized_service(whole_service), *checked(quick)] if sanitize else []),
    ]


assert sys.version_info >= (3, 11)
