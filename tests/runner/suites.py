# SPDX-License-Identifier: MIT
"""The kinds of tests. Each suite can name its tests without running them, and can run those that were chosen."""

import fnmatch
import functools
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import build
import tap
from build import ROOT
from report import Batch

PYTHON = '/usr/bin/python3'
SCRIPTS_SECONDS = 1500
RUNNER = ROOT / 'tests' / 'runner'
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


class Choice:
    """Which tests to run: all, or those that a word on the command line means."""

    def __init__(self, words):
        self.words = words

    def __call__(self, name):
        return not self.words or any(
            word in name or fnmatch.fnmatchcase(name, word) or fnmatch.fnmatchcase(name.split(':', 1)[1], word)
            for word in self.words)


def lines_of(command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False, **more)
    return done.returncode, [line for line in done.stdout.splitlines() if line.strip()]


def in_parallel(jobs, work):
    with ThreadPoolExecutor(int(build.JOBS)) as pool:
        for done in [pool.submit(work, job) for job in jobs]:
            done.result()


class Builds:
    """Warnings are errors, with both compilers."""
    name = 'build'

    def __init__(self, trees):
        self.trees = trees

    def names(self):
        return [tree.title for tree in self.trees]


class Units:
    """The test programs that meson knows, each result of each program."""
    name = 'unit'

    def __init__(self, tree):
        self.tree = tree
        self.listed = None

    def programs(self):
        """Programs with the names of their tests."""
        if self.listed is None:
            self.listed = [(program, self._names(program)) for program in self.tree.programs() if not is_host_test(program)]
        return self.listed

    def _names(self, program):
        if program.speaks_tap and Path(program.command[0]).is_relative_to(self.tree.folder):
            status, lines = lines_of([*program.command, '-l'], env={**os.environ, **program.environment})
            names = [line for line in lines if line.startswith('/')]
            if status == 0 and names:
                return names
        return [program.name]

    def names(self):
        return [name for _, names in self.programs() for name in names]

    def run(self, choice, report):
        in_parallel(self.programs(), lambda job: self._run_program(*job, choice, report))

    def _run_program(self, program, names, choice, report):
        chosen = [name for name in names if choice(f'{self.name}:{name}')]
        if not chosen:
            return
        command = list(program.command)
        if len(chosen) < len(names):
            command += [word for name in chosen for word in ('-p', name)]
        batch = Batch(report, self.name, program.name)
        if program.speaks_tap:
            tap.run(command, program.name, batch.add, program.environment, program.folder, program.seconds)
        else:
            run_plainly(program, command, batch, program.environment)
        batch.close()


def run_plainly(program, command, batch, environment):
    """A program that counts as one test: its exit status decides."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors='replace', env={**os.environ, **environment}, cwd=program.folder,
                              timeout=program.seconds, check=False)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        status, output = -1, f'{error.stdout or ""}\nended after {error.timeout:g} s'
    outcome = {0: tap.PASSED, 77: tap.SKIPPED}.get(status, tap.FAILED)
    batch.add(tap.Result(program.name, outcome, output + f'\nexit status {status}'))


class Checked:
    """The same programs under a checker of memory; one test a program, because the single results are counted already."""

    def __init__(self, name, tree, wrapper=(), environment=None, slowness=4):
        self.name, self.tree = name, tree
        self.wrapper, self.environment, self.slowness = wrapper, environment or {}, slowness

    def programs(self):
        """Only what is compiled: a checker says nothing about a script. A program that traces others is none to trace."""
        return [program for program in self.tree.programs()
                if Path(program.command[0]).is_relative_to(self.tree.folder) and program.environment.get('CODEWHALE_TRACES') != 'yes']

    def names(self):
        return [program.name for program in self.programs()]

    def run(self, choice, report):
        in_parallel([program for program in self.programs() if choice(f'{self.name}:{program.name}')],
                    lambda program: self._run_program(program, report))

    def _run_program(self, program, report):
        program.seconds *= self.slowness
        batch = Batch(report, self.name, program.name)
        run_plainly(program, [*self.wrapper, *program.command], batch, {**program.environment, **self.environment})
        batch.close()


SHARE_TESTS_MIN = 100
SHARES_PER_JOB = 4


def shares(names):
    """Many tests in parts, some for each process that may work: how long they take is not known, and with more parts than processes
    none is left with a long one at the end. The tests of a module stay together."""
    modules = {}
    for name in names:
        modules.setdefault(name.split('.', 1)[0], []).append(name)
    parts = [[] for _ in range(int(build.JOBS) * SHARES_PER_JOB if len(names) >= SHARE_TESTS_MIN else 1)]
    for module in sorted(modules.values(), key=len, reverse=True):
        min(parts, key=len).extend(module)
    return [part for part in parts if part]


class Scripts:
    """Python tests in a folder, run by unittest; `before` is what they run under."""

    def __init__(self, name, folder, before=(), seconds=SCRIPTS_SECONDS, asks_runtime=False, environment=None):
        self.name, self.folder, self.before, self.seconds, self.asks_runtime = name, folder, before, seconds, asks_runtime
        self.environment = environment or {}

    def command(self, *more):
        return [PYTHON, '-B', str(RUNNER / 'unittest_tap.py'), str(ROOT / self.folder), *more]

    def names(self):
        # Some tests are named after what a runtime says of itself.
        more = {'env': {**os.environ, 'CODEWHALE_TEST_NODE': runtime(), **self.environment}} if self.asks_runtime else {}
        status, lines = lines_of(self.command('--list'), **more)
        return lines if status == 0 else [f'{self.folder} (cannot be loaded)']

    def run(self, choice, report):
        names = self.names()
        chosen = [name for name in names if choice(f'{self.name}:{name}')]
        if not chosen:
            return
        parts = shares(chosen)
        if len(parts) == 1:
            self._run_part(self.folder, chosen if len(chosen) < len(names) else (), report)
        else:
            in_parallel([(f'{self.folder} {number}/{len(parts)}', part) for number, part in enumerate(parts, 1)],
                        lambda job: self._run_part(*job, report))

    def _run_part(self, title, words, report):
        batch = Batch(report, self.name, title)
        tap.run([*self.before, *self.command(*words)], self.folder, batch.add,
                {'PYTHONUNBUFFERED': '1', 'CODEWHALE_BUILD': str(build.PLAIN.folder), 'CODEWHALE_TEST_NODE': runtime(),
                 **self.environment}, ROOT, self.seconds)
        batch.close()


# What hosts may run on beside the default; scripts/get-node knows them.
OTHER_RUNTIMES = ('node22', 'node26', 'bun')


@functools.cache
def runtime(name=None):
    """The Node that hosts run on, or another runtime by name; fetched when it is not there yet. Not the one in PATH, which may be any."""
    if name:
        return lines_of([str(ROOT / 'scripts/get-node'), '--runtime', name])[1][-1]
    return os.environ.get('CODEWHALE_TEST_NODE') or lines_of([str(ROOT / 'scripts/get-node')])[1][-1]


class Host:
    """The tests of the JavaScript host, in the runtime that the host is built for; or in another one, all of them or some."""

    def __init__(self, tree, under=None, files=None):
        self.tree, self.under, self.files = tree, under, files
        self.name = f'host-{under}' if under else 'host'

    def programs(self):
        """Each test file with the names of its tests."""
        return [(program, self._names(program)) for program in self.tree.programs()
                if is_host_test(program) and (not self.files or Path(test_file(program)).name.split('.')[0] in self.files)]

    def _names(self, program):
        status, lines = lines_of([runtime(), '--no-warnings', '--import', str(RUNNER / 'node-list.mjs'),
                                  str(RUNNER / 'node-list-files.mjs'), test_file(program)],
                                 env={**os.environ, **self._environment(program)})
        return lines if status == 0 and lines else [program.name]

    @staticmethod
    def _environment(program):
        return {'NODE_OPTIONS': '', 'CODEWHALE_HOST_BUNDLE': os.path.join(program.folder, program.command[-1]), **program.environment}

    def names(self):
        return [name for _, names in self.programs() for name in names]

    def run(self, choice, report):
        in_parallel([program for program, names in self.programs() if any(choice(f'{self.name}:{name}') for name in names)],
                    lambda program: self._run_program(program, report))

    def _run_program(self, program, report):
        batch = Batch(report, self.name, program.name)
        command = [runtime(), '--no-warnings', '--test', f'--test-reporter={RUNNER / "node-reporter.mjs"}', test_file(program)]
        # The tests themselves run on Node in any case, the host on what is to be tried.
        environment = {**self._environment(program), 'CODEWHALE_TEST_NODE': runtime(self.under)}
        tap.run(command, program.name, batch.add, environment, program.folder, program.seconds)
        batch.close()


def test_file(program):
    return next((word for word in program.command if word.endswith('.test.mjs')), None)


def is_host_test(program):
    return test_file(program) is not None


def person():
    """A person's own acts, beside polkit in a private system; a desktop's polkit and its rules are left alone."""
    folder = ROOT / 'tests' / 'person'
    before = [str(ROOT / 'tests' / 'harness' / 'private-systemd'), '--as', 'tester', '--session', '--polkit', '--setup', str(folder / 'prepare'),
              '--timeout', str(SCRIPTS_SECONDS), '--env', f'CODEWHALE_BUILD={build.PLAIN.folder}',
              '--env', f'CODEWHALE_TEST_NODE={runtime()}', '--env', 'PYTHONUNBUFFERED=1', '--']
    return Scripts('person', 'tests/person', before=before if os.geteuid() == 0 else ['sudo', '-n', *before])


def integration(name='integration', harness_words=(), **shared):
    """Beside a private systemd as root; on a desktop beside the manager that runs there."""
    shared = {'name': name, 'folder': f'tests/{name}', **shared}
    harness = ROOT / 'tests' / 'harness' / 'private-systemd'
    if os.geteuid() == 0:
        before = [str(harness), '--as', 'tester', *harness_words, '--timeout', str(SCRIPTS_SECONDS), '--env', 'CODEWHALE_BUILD',
                  '--env', 'CODEWHALE_TEST_NODE', '--env', 'CODEWHALE_TEST_RUNTIMES', '--env', 'PYTHONUNBUFFERED', '--']
        return Scripts(**shared, before=before)
    if os.path.exists(os.path.join(os.environ.get('XDG_RUNTIME_DIR', ''), 'systemd/private')):
        return Scripts(**shared)
    told = {'CODEWHALE_BUILD': build.PLAIN.folder, 'CODEWHALE_TEST_NODE': runtime(), **(shared.get('environment') or {})}
    return Scripts(**shared, before=['sudo', '-n', str(harness), '--as', 'tester', *harness_words,
                                     *(word for name, value in told.items() for word in ('--env', f'{name}={value}')), '--'])


def system():
    """Tests that need root beside the system manager."""
    harness = ROOT / 'tests' / 'harness' / 'private-systemd'
    before = [str(harness), '--timeout', str(SCRIPTS_SECONDS), '--env', f'CODEWHALE_BUILD={build.PLAIN.folder}',
              '--env', f'CODEWHALE_TEST_NODE={runtime()}', '--env', 'PYTHONUNBUFFERED=1', '--']
    return Scripts('system', 'tests/system', before=before if os.geteuid() == 0 else ['sudo', '-n', *before])


def administrator():
    """As integration, in a system whose /etc holds rules of its administrator."""
    file = ROOT / 'tests' / 'administrator' / 'permissions.toml'
    setup = f'install -D -m 644 -o root -g root {shlex.quote(str(file))} /etc/codewhale/permissions.toml'
    return integration('administrator', harness_words=('--setup', setup))


def all_runtimes():
    """What the suite `escape` tries one after the other."""
    return {'CODEWHALE_TEST_RUNTIMES': ':'.join([runtime(), *map(runtime, OTHER_RUNTIMES)])}


def other_hosts(everything):
    """The host on the other Nodes: all of its tests, or whether it comes up there with its lock and serves the samples. On Bun it runs
    nothing, which the tests of the host show by themselves."""
    return [Host(build.PLAIN, name, None if everything else ('launch', 'samples')) for name in OTHER_RUNTIMES if name.startswith('node')]


def all_suites(quick, sanitize, runtimes=False):
    found = [Scripts('house', 'tests/house'), Units(build.PLAIN), Host(build.PLAIN), Scripts('types', 'tests/types')]
    if (ROOT / 'tests' / 'system').is_dir():
        found.append(system())
    found.append(person())
    if runtimes or not quick:
        found.extend(other_hosts(runtimes))
    found.append(integration())
    found.append(administrator())
    found.append(integration('escape', asks_runtime=True, environment=all_runtimes() if runtimes else None))
    # To count the descriptors of the service, which is not dumpable: the folder belongs to root.
    found.append(integration('soak', harness_words=('--ambient', 'CAP_DAC_READ_SEARCH')))
    if sanitize:
        found.append(Checked('sanitize', build.SANITIZED, environment=SANITIZERS))
        if not quick:
            found.append(Checked('valgrind', build.PLAIN, VALGRIND, {'G_SLICE': 'always-malloc', 'G_DEBUG': 'gc-friendly'}, 20))
    return found


assert sys.version_info >= (3, 11)
