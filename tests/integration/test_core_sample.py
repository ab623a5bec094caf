# SPDX-License-Identifier: MIT
"""The sample that asks the core, as a program and as a person at a shell use it."""

import json

from codewhale import SAMPLES, CoreCase
from codewhale.terminal import run


class Wordcount(CoreCase):
    def setUp(self):
        super().setUp()
        self.approver()
        self.client.bring_up(SAMPLES / 'wordcount')
        self.write('a.md', 'one two three\n')
        self.write('sub/b.md', 'four\nfive')
        self.write('c.txt', 'not this one')

    def test_counts_the_words_of_the_workspace(self):
        result = self.client.tool('mod_wordcount', {}, session=self.session)
        self.assertEqual(result['structured'], {'files': {'a.md': 3, 'sub/b.md': 2}, 'words': 5})
        self.assertEqual([row['tool'] for row in result['core_calls']['calls']], ['file_search', 'read', 'read'])

    def test_from_a_shell(self):
        done = run(self.bus.address, 'call', f'--workspace={self.workspace}', 'mod_wordcount', 'pattern=*.txt')
        self.assertEqual((done.returncode, json.loads(done.stdout)), (0, {'files': {'c.txt': 3}, 'words': 3}), done.stderr)
        done = run(self.bus.address, 'call', 'mod_wordcount')
        self.assertIn('no core', done.stdout)
