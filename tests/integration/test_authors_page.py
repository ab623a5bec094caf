# SPDX-License-Identifier: MIT
"""docs/AUTHORS.md does what it says: its commands are run in the order of the page, and print what stands there."""

import os
import re
import shlex
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from codewhale import Daemon, Units
from codewhale.page import blocks, pattern, says
from codewhale.terminal import environment, program, read_now

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'AUTHORS.md'


class Page(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if not program().exists() or not Daemon.program().exists():
            self.skipTest('nothing is built')
        folder = tempfile.TemporaryDirectory(prefix='codewhale-page-')
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        tools = self.folder / 'bin'
        tools.mkdir()
        (tools / 'codewhalectl').symlink_to(program())
        (tools / 'node').symlink_to(os.environ.get('CODEWHALE_TEST_NODE') or '/usr/bin/node')
        self.place = self.folder / 'work'
        self.place.mkdir()
        # Any folder above a runtime that is one of node_modules is passed over, so the runtime is named.
        service = f'{shlex.join(Daemon.command())}'
        self.environment = environment('', PATH=f'{tools}:{os.environ["PATH"]}', CODEWHALE_BUS_ADDRESS='', CODEWHALE_DEV_SERVICE=service)
        self.units = Units()
        self.dev, self.seen = None, ''

    def tearDown(self):
        if self.dev:
            self.dev.kill()
            self.dev.wait()
            self.dev.stdout.close()

    def run_to_its_end(self, command):
        return subprocess.run(['/bin/sh', '-c', command], cwd=self.place, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=90, check=False).stdout

    def assertPrinted(self, expected, printed):
        if not says(expected, printed):
            self.fail(f'the page says\n{expected}\n\nbut it is\n{printed}')

    def read_until(self, wanted, seconds=60):
        deadline = time.monotonic() + seconds
        while not (found := re.search(wanted, self.seen)):
            self.assertLess(time.monotonic(), deadline, f'the page says\n{wanted}\n\nbut it is\n{self.seen}')
            self.seen += read_now(self.dev)
            time.sleep(0.02)
        return found

    def start_dev(self, command, expected):
        node = os.environ.get('CODEWHALE_TEST_NODE')
        command += f' --node={node}' if node else ''
        self.dev = subprocess.Popen(['/bin/sh', '-c', f'exec {command}'], cwd=self.place, env=self.environment, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        os.set_blocking(self.dev.stdout.fileno(), False)
        self.read_until('^' + pattern(expected))
        self.environment['CODEWHALE_BUS_ADDRESS'] = re.search(r'export CODEWHALE_BUS_ADDRESS=(\S+)', self.seen)[1]

    def test_commands_print_what_the_page_says(self):
        for block in blocks(PAGE.read_text()):
            first, _, expected = block.partition('\n')
            if first.startswith('codewhalectl install'):
                continue  # for good, with a person
            if first.startswith('$ codewhalectl dev'):
                self.start_dev(first[2:], expected)
            elif first.startswith('$ '):
                self.assertPrinted(expected, self.run_to_its_end(first[2:]))
            elif first.startswith('reload'):
                (self.place / 'word-count' / 'native' / 'word-count.mjs').open('a').write('\nthis is no JavaScript')
                self.read_until(pattern(block))
                text = (self.place / 'word-count' / 'native' / 'word-count.mjs').read_text()
                (self.place / 'word-count' / 'native' / 'word-count.mjs').write_text(text.replace('\nthis is no JavaScript', ''))
                self.read_until(r'failed[^\n]*\n(?:.*\n)*?active')
            else:
                for line in block.split('\n'):
                    self.read_until(pattern(line))
        self.dev.send_signal(2)
        self.assertEqual(self.dev.wait(30), 0)
        self.dev.stdout.close()
        self.dev = None
        self.assertEqual(self.units.wait_until_gone(), [])
