# SPDX-License-Identifier: MIT
"""The built-in core: each tool runs in a unit of its own and not in the service, and what it says is bounded."""

import os
import re
import subprocess
import unittest

from codewhale import CoreCase, iterate_until

TEXT_MAX = 256 * 1024
CALLS = [('read', {'path': 'a.txt'}), ('list_dir', {}), ('file_search', {'pattern': 'a*'}), ('grep_files', {'pattern': 'one'}),
         ('write_file', {'path': 'b.txt', 'content': 'x'}), ('edit_file', {'path': 'b.txt', 'old_string': 'x', 'new_string': 'y'}),
         ('shell', {'command': 'true'})]


class BoundCase(CoreCase):
    def setUp(self):
        super().setUp()
        self.approver()
        self.bring_up_asking()
        self.write('a.txt', 'one\n')


@unittest.skipUnless(os.path.exists('/run/private-systemd'), "the journal of a desktop's user is left alone")
class Units(BoundCase):
    def journal(self):
        return subprocess.run(['journalctl', '--user', '-o', 'cat'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False).stdout

    def started(self):
        """What systemd itself says that it started for this extension, in order."""
        return re.findall(rf'Started (codewhale-host-core:\w+-\d+\.service) - Core tool \w+ for extension {self.plugin}\.', self.journal())

    def test_each_call_is_a_unit_of_its_own(self):
        calls = [*CALLS, CALLS[0]]
        done = self.outcomes(*calls)
        self.assertEqual([outcome['ok']['isError'] for outcome in done], [False] * len(done))
        iterate_until(lambda: len(self.started()) >= len(done), what='the journal')
        units = self.started()
        self.assertEqual([re.split('[:-]', unit)[3] for unit in units], [name for name, _ in calls])
        self.assertEqual(len(set(units)), len(units))
        iterate_until(lambda: not [name for name in self.units.names() if 'core' in name], what='the end of the last unit')
        # What does its work is no failure of a unit, to systemd either; only a command is killed with what it may have left.
        journal = self.journal()
        self.assertEqual([unit for unit in units if f'{unit}: Failed' in journal and ':shell-' not in unit], [])


class Bounds(BoundCase):
    def texts(self, *calls):
        found = []
        for outcome in self.outcomes(*calls):
            self.assertFalse(outcome['ok']['isError'], outcome)
            found.append((''.join(block['text'] for block in outcome['ok']['content']), outcome['ok']['structured']))
            self.assertLess(len(found[-1][0].encode()), TEXT_MAX + 1024)
        return found

    def test_a_large_file_is_read_with_its_middle_left_out(self):
        lines = ''.join(f'{number:06} \u00e4\n' for number in range(60000))
        self.write('large.txt', lines)
        (whole, facts), (part, _) = self.texts(('read', {'path': 'large.txt'}), ('read', {'path': 'large.txt', 'offset': 59999}))
        size = len(lines.encode())
        self.assertEqual((facts['bytes'], facts['lines']), (size, 60000))
        self.assertIn(f'{size} bytes', whole)  # how much there was
        self.assertTrue(whole.startswith('000000 \u00e4\n') and '059999 \u00e4\n' in whole and '030000' not in whole)
        self.assertEqual(part, '059998 \u00e4\n059999 \u00e4\n')

    def test_what_is_too_large_to_be_read_or_written_is_told(self):
        with open(self.workspace / 'huge', 'wb') as file:
            file.truncate(16 * 1024 * 1024 + 1)
        self.write('half', 'ab' * 1024 * 1024)
        calls = [('read', {'path': 'huge'}), ('edit_file', {'path': 'half', 'old_string': 'a', 'new_string': 'aaaaaa', 'replace_all': True})]
        for outcome, words in zip(self.outcomes(*calls), ('is larger than 16777216 bytes', 'would become larger than 4194304 bytes')):
            self.assertTrue(outcome['ok']['isError'])
            self.assertIn(words, outcome['ok']['content'][0]['text'])
        self.assertEqual((self.workspace / 'half').stat().st_size, 2 * 1024 * 1024)

    def test_what_is_found_is_counted(self):
        for number in range(2100):
            self.write(f'many/{number:04}', 'needle\n' * 2)
        listed, found, few, grepped = self.texts(
            ('list_dir', {'path': 'many'}), ('file_search', {'pattern': '0*'}), ('file_search', {'pattern': '*', 'limit': 3}),
            ('grep_files', {'pattern': 'needle', 'limit': 5}))
        self.assertEqual((listed[1]['count'], len(listed[1]['entries'])), (2100, 2000))
        self.assertTrue(listed[0].endswith('[100 more]\n'))
        self.assertEqual((found[1]['found'], found[0].count('\n')), (200, 201))
        self.assertTrue(found[0].endswith('[there are more]\n'))
        self.assertEqual((few[1]['found'], few[0].count('\n')), (3, 4))
        self.assertEqual((grepped[1]['matches'], grepped[1]['files'], grepped[0].count('\n')), (5, 3, 6))
        self.assertTrue(grepped[0].endswith('[there is more]\n'))

    def test_one_long_line_is_shown_by_its_beginning(self):
        self.write('line.txt', 'needle' + 'x' * 500000)
        [(text, facts)] = self.texts(('grep_files', {'pattern': 'needle'}))
        self.assertEqual((facts['matches'], len(text)), (1, len('line.txt:1:') + 1000 + len('...\n')))

    def test_the_output_of_a_command_does_not_fill_the_service(self):
        [(text, facts)] = self.texts(('shell', {'command': 'head -c 40000000 /dev/zero | tr "\\0" y'}))
        self.assertEqual(facts['output_bytes'], 40000000)
        self.assertIn('40000000 bytes', text)
