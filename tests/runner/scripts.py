# SPDX-License-Identifier: MIT
"""Suites of Python tests, most of them beside a private systemd."""

import functools
import os
import shlex
import subprocess
from dataclasses import dataclass, field

import build
import guesses
import tap
from build import ROOT
from choice import lines_of
from pool import WAITS, WORKS, Job
from report import Batch
from runtimes import runtime

PYTHON = '/usr/bin/python3'
SECONDS_MAX = 1500
SHARE_SECONDS = 45
RUNNER = ROOT / 'tests' / 'runner'
# What a person may choose for tests in a private system.
PASSED_ON = ('CODEWHALE_TEST_RUNTIMES', 'CODEWHALE_CHURN_ROUNDS', 'CODEWHALE_SOAK_SEED', 'CODEWHALE_TEST_SEED', 'CODEWHALE_TEST_CALLS')
HARNESS = ROOT / 'tests' / 'harness' / 'private-systemd'


@dataclass
class Share:
    """Tests that run in one process, one after the other."""
    seconds: float = 0  # as guessed
    names: list = field(default_factory=list)


def shares(suite, names):
    """The tests of a class stay together, for what they share; the shares are about equally long."""
    classes = {}
    for name in names:
        classes.setdefault('.'.join(name.split('.')[:2]), []).append(name)
    guessed = sorted(((guesses.of_class(suite, title, len(tests)), tests) for title, tests in classes.items()),
                     key=lambda pair: pair[0], reverse=True)
    parts = [Share() for _ in range(max(round(sum(seconds for seconds, _ in guessed) / SHARE_SECONDS), 1))]
    for seconds, tests in guessed:
        part = min(parts, key=lambda part: part.seconds)
        part.seconds += seconds
        part.names += tests
    return [part for part in parts if part.names]


class Scripts:
    """Python tests in a folder, run by unittest; `before` is what they run under, `place` what can't be shared with other suites.
    `only` and `without` say how the names begin of those that are taken and left out."""

    def __init__(self, name, folder, before=(), asks_runtime=False, environment=None, place='', tree=None, only=('',), without=()):
        self.name, self.folder, self.before, self.asks_runtime = name, folder, before, asks_runtime
        self.environment, self.place, self.tree = environment or {}, place, tree
        self.only, self.without = only, without

    def command(self, *more):
        return [PYTHON, '-B', str(RUNNER / 'unittest_tap.py'), str(ROOT / self.folder), *more]

    def names(self):
        # Some tests are named after what a runtime says of itself.
        more = {'env': {**os.environ, 'CODEWHALE_TEST_NODE': runtime(), **self.environment}} if self.asks_runtime else {}
        status, lines = lines_of(self.command('--list'), **more)
        if status != 0:
            return [f'{self.folder} (cannot be loaded)']
        return [line for line in lines if line.startswith(self.only) and not line.startswith(self.without)]

    def jobs(self, choice, report):
        names = self.names()
        chosen = [name for name in names if choice(f'{self.name}:{name}')]
        parts = shares(self.name, chosen) if chosen else []
        kind = WAITS if self.before or self.place else WORKS
        titles = [f'{self.folder} {number}/{len(parts)}' for number in range(1, len(parts) + 1)] if len(parts) > 1 else [self.folder]
        return [Job(lambda title=title, part=part: self._run_part(title, part.names, report), part.seconds, kind, self.place)
                for title, part in zip(titles, parts)]

    def _run_part(self, title, names, report):
        batch = Batch(report, self.name, title)
        tap.run([*self.before, *self.command(*names)], self.folder, batch.add,
                {'PYTHONUNBUFFERED': '1', 'CODEWHALE_BUILD': str(build.PLAIN.folder), 'CODEWHALE_TEST_NODE': runtime(),
                 **self.environment}, ROOT, SECONDS_MAX)
        batch.close()


def _told():
    return [word for name, value in (('CODEWHALE_BUILD', build.PLAIN.folder), ('CODEWHALE_TEST_NODE', runtime()), ('PYTHONUNBUFFERED', '1'))
            for word in ('--env', f'{name}={value}')]


def _as_root(*command):
    return [str(word) for word in command] if os.geteuid() == 0 else ['sudo', '-n', *map(str, command)]


def person():
    """A person's own acts, beside polkit in a private system; a desktop's polkit and its rules are left alone."""
    before = _as_root(HARNESS, '--as', 'tester', '--session', '--polkit', '--setup', ROOT / 'tests' / 'person' / 'prepare',
                      '--timeout', SECONDS_MAX, *_told(), '--')
    return Scripts('person', 'tests/person', before, tree=build.PLAIN)


def system():
    """Tests that need root beside the system manager."""
    return Scripts('system', 'tests/system', _as_root(HARNESS, '--timeout', SECONDS_MAX, *_told(), '--'), tree=build.PLAIN)


@functools.cache
def _manager_serves():
    """Whether this user's own manager is there and may wall something in; some systems forbid users what that takes."""
    if os.geteuid() == 0 or not os.path.exists(os.path.join(os.environ.get('XDG_RUNTIME_DIR', ''), 'systemd/private')):
        return False
    return subprocess.run(['systemd-run', '--user', '--quiet', '--wait', '--collect', '-p', 'PrivateUsers=yes', '-p', 'PrivateNetwork=yes',
                           'true'], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def integration(folder='integration', harness_words=(), **shared):
    """Beside a private systemd as root; on a desktop beside the manager that runs there, one share at a time."""
    shared = {'name': folder, 'folder': f'tests/{folder}', 'tree': build.PLAIN, **shared}
    if _manager_serves():
        return Scripts(**shared, place='the user manager')
    chosen = {name: value for name, value in os.environ.items() if name in PASSED_ON}
    more = [word for pair in {**chosen, **(shared.get('environment') or {})}.items() for word in ('--env', '='.join(pair))]
    return Scripts(**shared, before=_as_root(HARNESS, '--as', 'tester', *harness_words, '--timeout', SECONDS_MAX, *_told(), *more, '--'))


def administrator():
    """As integration, in a system whose /etc holds rules of its administrator."""
    file = ROOT / 'tests' / 'administrator' / 'permissions.toml'
    setup = f'install -D -m 644 -o root -g root {shlex.quote(str(file))} /etc/codewhale/permissions.toml'
    return integration('administrator', harness_words=('--setup', setup))
