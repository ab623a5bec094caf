# SPDX-License-Identifier: MIT
"""What an author does: a new bundle, its own tests, and a service that runs it while it changes."""

import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from codewhale import Daemon, Units
from codewhale.terminal import begin, environment, program, read_now, run


def runtime():
    return os.environ.get('CODEWHALE_TEST_NODE') or 'node'


class Folder(unittest.TestCase):
    def setUp(self):
        if not program().exists():
            self.skipTest('nothing is built')
        folder = tempfile.TemporaryDirectory(prefix='codewhale-author-')
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def new(self, name, *more):
        done = run('', 'new', name, f'--dir={self.folder}', *more)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        return self.folder / name


class New(Folder):
    def test_writes_a_bundle_whose_own_tests_pass(self):
        for more in ((), ('--typescript',)):
            with self.subTest(options=more):
                bundle = self.new(f'word{len(more)}-count', *more)
                self.assertEqual(json.loads((bundle / 'plugin.json').read_text())['name'], bundle.name)
                left = [path for path in bundle.rglob('*') if path.is_file() and re.search('@[A-Z]+@', path.read_text())]
                self.assertEqual(left, [], 'a place of the template was not filled in')
                done = subprocess.run([runtime(), '--test'], cwd=bundle, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertRegex(done.stdout, r'pass 4')

    def test_overwrites_nothing(self):
        bundle = self.new('mine')
        (bundle / 'README.md').write_text('changed')
        done = run('', 'new', 'mine', f'--dir={self.folder}')
        self.assertEqual(done.returncode, 1)
        self.assertIn('is there already', done.stderr)
        self.assertEqual((bundle / 'README.md').read_text(), 'changed')

    def test_names(self):
        for name in ('', 'Upper', '-a', 'a-', 'a--b', 'a..b', '../a', 'a/b', 'con', 'lpt1', 'x' * 65, 'ä'):
            with self.subTest(name=name):
                self.assertEqual(run('', 'new', name, f'--dir={self.folder}').returncode, 2)
        self.assertEqual(list(self.folder.iterdir()), [])
        for name in ('a', '0', 'x' * 64, 'a.b-c', 'mcp-server', 'grep-files'):
            with self.subTest(name=name):
                self.new(name)

    def test_json(self):
        done = run('', '--json', 'new', 'mine', f'--dir={self.folder}')
        self.assertEqual(json.loads(done.stdout), {'name': 'mine', 'folder': str(self.folder / 'mine')})

    def test_folder_that_cannot_be_made(self):
        done = run('', 'new', 'mine', f'--dir={self.folder}/none')
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'{self.folder}/none/mine', done.stderr)


class Dev(Folder):
    """codewhalectl dev with pipes, and calls from another process."""

    def setUp(self):
        super().setUp()
        if not Daemon.program().exists():
            self.skipTest('nothing is built')
        self.units = Units()
        self.process = None
        self.addCleanup(self.end)

    def start(self, folder, *more):
        self.process = subprocess.Popen(
            [str(program()), 'dev', str(folder), f'--node={runtime()}', *more], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=environment('', CODEWHALE_BUS_ADDRESS='', TMPDIR=str(self.folder),
                                                                 CODEWHALE_DEV_SERVICE=shlex.join(Daemon.command())))
        os.set_blocking(self.process.stdout.fileno(), False)
        self.seen = ''

    def read_until(self, pattern, seconds=40):
        """What came, up to the pattern and with it."""
        deadline = time.monotonic() + seconds
        while not (found := re.search(pattern, self.seen)):
            self.assertLess(time.monotonic(), deadline, f'{pattern!r} did not come, but:\n{self.seen}')
            self.seen += read_now(self.process)
            time.sleep(0.02)
        text, self.seen = self.seen[:found.end()], self.seen[found.end():]
        return text

    def end(self, number=signal.SIGINT):
        if self.process is None:
            return None
        self.process.send_signal(number)
        status = self.process.wait(30)
        self.seen += read_now(self.process)
        self.process.stdout.close()
        self.process = None
        return status

    def call(self, *words):
        return run(self.address, *words)

    def up(self, folder, *more):
        self.start(folder, *more)
        self.address = re.search(r'CODEWHALE_BUS_ADDRESS=(\S+)', self.read_until('CODEWHALE_BUS_ADDRESS=.*\n'))[1]

    def test_runs_calls_reloads_and_leaves_nothing(self):
        bundle = self.new('word-count')
        self.up(bundle)
        self.read_until(r'active +after')
        self.assertIn('codewhalectl call hello_word_count', self.read_until('tool +.*\n'))
        self.assertIn('hello-word-count', self.read_until('command +.*\n'))

        done = self.call('call', 'hello_word_count', 'name=Ada')
        self.assertEqual((done.returncode, json.loads(done.stdout)), (0, {'text': 'Hello, Ada!', 'times': 1}), done.stderr)
        self.read_until(r'allowed +.*hello_word_count')
        self.read_until(r'call +hello_word_count: approved, ok, [0-9.]+ ms')

        source = bundle / 'native' / 'word-count.mjs'
        source.write_text(source.read_text().replace("'Hello'", "'Moin'"))
        self.read_until(r'reload +something changed\n(.*\n)*?active')
        done = self.call('call', 'hello_word_count', 'name=Ada')
        self.assertEqual(json.loads(done.stdout), {'text': 'Moin, Ada!', 'times': 2}, 'new code, and what was stored stayed')

        source.write_text('this is no JavaScript')
        self.read_until(r'failed +.*word-count.mjs')
        source.write_text("export const inject = ['tools']\nexport function apply(ctx) { ctx.tools.register({ name: 'other_tool', description: 'd', "
                          "parameters: { type: 'object', required: ['a b'] }, execute: () => 'back' }) }\n")
        self.assertIn("codewhalectl call other_tool 'a b'=…", self.read_until('tool +.*\n'))
        self.assertEqual(self.call('call', 'other_tool', '{"a b": 1}').stdout.strip(), 'back')

        self.assertEqual(self.end(), 0)
        self.assertIn('nothing is left of it', self.seen)
        self.assertEqual([path.name for path in self.folder.iterdir()], ['word-count'])
        self.assertEqual(self.units.wait_until_gone(), [])

    def test_log_of_the_plugin_is_shown(self):
        self.up(self.new('word-count'))
        self.read_until(r'tool +')
        for _ in range(3):
            self.call('call', 'hello_word_count', '{}')
        said = self.read_until(r'log +.*is number 3\n')
        self.assertEqual(said.count('is number 1\n'), 1, 'shown once, although it stands in two places')

    def test_a_change_while_a_tool_runs_ends_it_and_says_so(self):
        bundle = self.new('word-count')
        source = bundle / 'native' / 'word-count.mjs'
        code = ("export const inject = ['tools', 'logger']\nexport function apply(ctx) { ctx.tools.register({ name: 'slow_tool', description: 'd', parameters: "
                "{ type: 'object' }, async execute(input) { ctx.logger.warn('it began'); if (input.stay) await new Promise(() => {}); return '%s' } }) }\n")
        source.write_text(code % 'old')
        self.up(bundle)
        self.read_until(r'tool +slow_tool')
        call = begin(self.address, 'call', 'slow_tool', 'stay:=true')
        self.addCleanup(call.communicate)
        self.read_until('it began')
        source.write_text(code % 'new')
        self.read_until(r'reload +something changed\n(.*\n)*?active')
        self.assertEqual(self.call('call', 'slow_tool').stdout.strip(), 'new')
        out, err = call.communicate(timeout=60)
        self.assertEqual((call.returncode, out), (1, ''))
        self.assertIn("The call of 'slow_tool' was cancelled: the plugin was switched off.\n", err)

    def test_settings_and_ask(self):
        config = self.folder / 'more.toml'
        config.write_text('[plugins."word-count".config]\ngreeting = "Servus"\n')
        self.up(self.new('word-count'), f'--config={config}', '--ask')
        self.read_until(r'tool +')
        done = self.call('call', 'hello_word_count', '{}')
        self.assertEqual(done.returncode, 8, 'nobody answers the card')
        self.assertEqual(self.call('run', 'hello-word-count').stdout.strip(), 'Servus was said 0 times.')

    def test_folder_that_is_no_bundle_and_becomes_one(self):
        folder = self.folder / 'empty'
        folder.mkdir()
        self.up(folder)
        self.read_until(r'failed +.*holds no bundle')
        made = self.new('word-count')
        for path in ('native', 'plugin.json'):
            (made / path).rename(folder / path)
        self.read_until(r'active +after')

    def test_what_is_wrong_is_said(self):
        for words, status, text in ((['dev', '/nonexistent'], 1, 'is no folder'), (['--json', 'dev', '.'], 2, '--json'),
                                    (['--system', 'dev', '.'], 2, '--system'), (['--address=unix:path=/x', 'dev', '.'], 2, '--address')):
            with self.subTest(words=words):
                done = run('', *words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(text, done.stderr)
        done = run('', 'dev', str(self.folder), CODEWHALE_DEV_SERVICE='/nonexistent/service', TMPDIR=str(self.folder))
        self.assertEqual(done.returncode, 1)
        self.assertIn('/nonexistent/service', done.stderr)
        done = run('', 'dev', str(self.folder), CODEWHALE_DEV_SERVICE='sh -c "echo no luck; exit 3"', TMPDIR=str(self.folder))
        self.assertEqual(done.returncode, 1)
        self.assertIn('no luck', done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [], 'a temporary folder is left')

    def test_killed_leaves_no_process(self):
        self.up(self.new('word-count'))
        self.read_until(r'active +after')
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process = None
        self.assertEqual(self.units.wait_until_gone(), [])
        deadline = time.monotonic() + 10
        while (left := self._processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(left, [])

    def _processes(self):
        found = []
        for path in Path('/proc').glob('[0-9]*/cmdline'):
            try:
                if str(self.folder).encode() in path.read_bytes():
                    found.append(path.read_bytes())
            except OSError:
                continue
        return found
