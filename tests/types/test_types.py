# SPDX-License-Identifier: MIT
"""The types for authors: every service used as documented compiles, what must not compile does not, and the samples and both kinds of
new bundle fit them. TypeScript comes from npm with the hashes of the lock, without install scripts."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def compiler():
    """tsc in the cache, installed there when it is not yet."""
    target = Path(os.environ.get('CODEWHALE_CACHE') or ROOT / 'build' / 'cache') / 'types'
    lock = HERE / 'package-lock.json'
    program = target / 'node_modules' / 'typescript' / 'lib' / 'tsc.js'
    if not program.exists() or (target / lock.name).read_bytes() != lock.read_bytes():
        target.mkdir(parents=True, exist_ok=True)
        for name in ('package.json', 'package-lock.json', '.npmrc'):
            shutil.copy(HERE / name, target)
        subprocess.run(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], cwd=target, check=True)
    return program


class Types(unittest.TestCase):
    def check(self, folder):
        done = subprocess.run(['node', str(compiler()), '--project', str(folder)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_service_and_the_samples(self):
        self.check(HERE)

    def test_new_bundles(self):
        program = Path(os.environ.get('CODEWHALE_BUILD') or ROOT / 'build') / 'cli' / 'codewhalectl'
        if not program.exists():
            self.skipTest('nothing is built')
        for more in ([], ['--typescript']):
            with self.subTest(options=more), tempfile.TemporaryDirectory() as folder:
                subprocess.run([str(program), 'new', 'word-count', f'--dir={folder}', *more], check=True, stdout=subprocess.DEVNULL)
                self.check(Path(folder) / 'word-count')
