# SPDX-License-Identifier: MIT
"""Suites of programs that meson knows. Each suite can name its tests without running them, and makes jobs of those that were chosen."""

import os
from pathlib import Path

import guesses
import processes
import tap
from build import ROOT
from choice import lines_of
from pool import Job
from report import Batch
from runtimes import runtime

RUNNER = ROOT / 'tests' / 'runner'


class Builds:
    """Warnings are errors, with both compilers."""
    name = 'build'

    def __init__(self, trees):
        self.trees = trees

    def names(self):
        return [tree.title for tree in self.trees]


class Units:
    """The test programs of a tree, each result of each program."""
    name = 'unit'

    def __init__(self, tree):
        self.tree = tree

    def programs(self):
        return [program for program in self.tree.programs() if not is_host_test(program)]

    def _names(self, program):
        if program.speaks_tap and Path(program.command[0]).is_relative_to(self.tree.folder):
            status, lines = lines_of([*program.command, '-l'], env={**os.environ, **program.environment})
            names = [line for line in lines if line.startswith('/')]
            if status == 0 and names:
                return names
        return [program.name]

    def names(self):
        return [name for program in self.programs() for name in self._names(program)]

    def jobs(self, choice, report):
        return [Job(lambda program=program: self._run_program(program, choice, report), guesses.of_program(self.name, program.name))
                for program in self.programs()]

    def _run_program(self, program, choice, report):
        command = list(program.command)
        if choice.words:
            names = self._names(program)
            chosen = [name for name in names if choice(f'{self.name}:{name}')]
            if not chosen:
                return
            if len(chosen) < len(names):
                command += [word for name in chosen for word in ('-p', name)]
        batch = Batch(report, self.name, program.name)
        if program.speaks_tap:
            tap.run(command, program.name, batch.add, program.environment, program.folder, program.seconds)
        else:
            run_plainly(program, command, batch, program.environment, program.seconds)
        batch.close()


def run_plainly(program, command, batch, environment, seconds):
    """A program that counts as one test: its exit status decides."""
    status, output = processes.run(command, environment, program.folder, seconds)
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

    def jobs(self, choice, report):
        return [Job(lambda program=program: self._run_program(program, report), guesses.of_program(self.name, program.name))
                for program in self.programs() if choice(f'{self.name}:{program.name}')]

    def _run_program(self, program, report):
        batch = Batch(report, self.name, program.name)
        run_plainly(program, [*self.wrapper, *program.command], batch, {**program.environment, **self.environment},
                    program.seconds * self.slowness)
        batch.close()


class Host:
    """The tests of the JavaScript host, in the runtime that the host is built for; or in another one, all of them or some."""

    def __init__(self, tree, under=None, files=None):
        self.tree, self.under, self.files = tree, under, files
        self.name = f'host-{under}' if under else 'host'

    def programs(self):
        """The test files."""
        return [program for program in self.tree.programs()
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
        return [name for program in self.programs() for name in self._names(program)]

    def jobs(self, choice, report):
        return [Job(lambda program=program: self._run_program(program, choice, report), guesses.of_program(self.name, program.name))
                for program in self.programs()]

    def _run_program(self, program, choice, report):
        if choice.words and not any(choice(f'{self.name}:{name}') for name in self._names(program)):
            return
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
