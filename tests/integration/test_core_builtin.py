# SPDX-License-Identifier: MIT
"""The built-in core: what its tools do, and that each runs behind walls with the workspace as its only view."""

import json
import os
import time
from pathlib import Path

from codewhale import CoreCase, iterate_until, options


class Files(CoreCase):
    def setUp(self):
        super().setUp()
        self.person = self.approver()
        self.bring_up_asking()

    def fails_with(self, word, name, arguments):
        """The tool runs and can't do it: a result, no exception."""
        outcome = self.one(name, arguments)
        self.assertTrue(outcome['ok']['isError'], outcome)
        self.assertIn(word, outcome['ok']['content'][0]['text'])

    def test_X01_read_runs_without_a_card_and_leaves_a_receipt(self):
        self.write('a.txt', 'one\ntwo\nthree\n')
        result = self.ask(('read', {'path': 'a.txt', 'offset': 2, 'limit': 1}))
        self.assertEqual(result['structured']['done'][0]['ok']['content'], [{'type': 'text', 'text': 'two\n'}])
        receipts = self.receipts(result)
        self.assertEqual(receipts['total'], 1)
        [receipt] = receipts['calls']
        self.assertEqual((receipt['seq'], receipt['tool'], receipt['decision'], receipt['status']), (1, 'read', 'auto', 'ok'))
        self.assertGreater(receipt['bytes'], 0)
        self.assertEqual([card['tool'] for card in self.person.cards], ['ask'])
        [record] = self.records(kind='core-call')
        self.assertEqual((record['tool'], record['outcome']), ('read', 'allowed'))
        self.assertEqual(json.loads(self.client.call('', 'Describe'))['tickets'], 0)

    def test_X02_no_core_call_no_receipt(self):
        result = self.ask()
        self.assertTrue(result['structured']['core'], 'it could have called')
        self.assertNotIn('core_calls', result)

    def test_looking(self):
        self.write('src/main.c', 'int main(void) {\n        return 7;\n}\n')
        self.write('src/deep/er.txt', 'needle here\n')
        self.write('.git/config', 'needle\n')
        outcomes = self.outcomes(
            ('list_dir', {}), ('list_dir', {'path': 'src'}), ('file_search', {'pattern': '*.c'}),
            ('file_search', {'pattern': 'src/*/er.*'}), ('grep_files', {'pattern': 'need(le)+'}),
            ('grep_files', {'pattern': 'RETURN', 'ignore_case': True, 'glob': '*.c'}))
        texts = [outcome['ok']['content'][0]['text'] for outcome in outcomes]
        self.assertEqual(texts, ['.git/\nsrc/\n', 'deep/\nmain.c\n', 'src/main.c\n', 'src/deep/er.txt\n',
                                 'src/deep/er.txt:1:needle here\n', 'src/main.c:2:        return 7;\n'])

    def test_writing(self):
        outcomes = self.outcomes(
            ('write_file', {'path': 'new/file.txt', 'content': 'x', 'create_directories': True}),
            ('edit_file', {'path': 'new/file.txt', 'old_string': 'x', 'new_string': 'yy'}))
        self.assertFalse(any(outcome['ok']['isError'] for outcome in outcomes), outcomes)
        self.assertEqual((self.workspace / 'new/file.txt').read_text(), 'yy')
        self.assertEqual(sorted(os.listdir(self.workspace / 'new')), ['file.txt'])
        self.fails_with('not in', 'edit_file', {'path': 'new/file.txt', 'old_string': 'zzz', 'new_string': ''})

    def test_names_of_the_families(self):
        self.write('a.txt', 'text\n')
        for name, arguments in (('read_file', {'path': 'a.txt'}), ('READ', {'path': 'a.txt'}), ('File', {'action': 'read', 'path': 'a.txt'})):
            with self.subTest(name=name):
                self.assertEqual(self.text(name, arguments), 'text\n')
        self.assertEqual(self.one('File', {'path': 'a.txt'})['code'], 'failed')
        self.assertEqual(self.one('bash', {'command': 'cat a.txt'})['ok']['content'][0]['text'], 'text\n')

    def test_nothing_outside_the_workspace(self):
        secret = self.daemon.base / 'secret'
        secret.write_text('outside\n')
        os.symlink(secret, self.workspace / 'link')
        os.symlink(self.daemon.base, self.workspace / 'folder')
        os.symlink('real.txt', self.workspace / 'inner')
        self.write('real.txt', 'inside\n')
        for path in ('../secret', str(secret), 'link', 'folder/secret', 'inner', 'x/../../secret', '/etc/passwd', '/proc/self/environ'):
            with self.subTest(path=path):
                outcome = self.one('read', {'path': path})
                self.assertTrue(outcome['ok']['isError'], outcome)
                self.assertNotIn('outside\n', outcome['ok']['content'][0]['text'])
        self.fails_with('link', 'write_file', {'path': 'link', 'content': 'changed'})
        self.fails_with('outside', 'write_file', {'path': '../secret', 'content': 'changed'})
        self.assertEqual(secret.read_text(), 'outside\n')

    def test_arguments_are_checked_by_the_schema(self):
        for name, arguments in (('read', {}), ('read', {'path': 1}), ('read', {'path': 'a', 'more': 1}), ('shell', {'command': ''})):
            with self.subTest(name=name, arguments=arguments):
                self.assertEqual(self.one(name, arguments)['code'], 'failed')

    def test_no_such_tool_and_no_workspace(self):
        self.assertEqual(self.one('todo_write', {})['code'], 'failed')
        bare = self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.assertEqual(self.ask(session=bare)['structured'], {'core': False})
        for folder in ('/', '/usr/share', str(Path.home()), str(self.daemon.home), str(self.daemon.base)):
            with self.subTest(folder=folder):
                session = self.client.call('Sessions', 'Open', '(a{sv})', options(workspace=folder))
                self.assertEqual(self.ask(session=session)['structured'], {'core': False})

    def test_a_folder_that_was_exchanged(self):
        self.write('a.txt', 'mine\n')
        call = self.begin(('read', {'path': 'a.txt'}), hold=True)
        self.wait_until_held()
        self.workspace.rename(self.daemon.base / 'moved')
        self.workspace.mkdir()
        (self.workspace / 'a.txt').write_text('theirs\n')
        self.lead('go')
        [outcome] = json.loads(call.result(60))['structured']['done']
        self.assertEqual(outcome['code'], 'refused')
        self.assertIn('another folder', outcome['message'])


class Shell(CoreCase):
    def setUp(self):
        super().setUp()
        self.approver()
        self.bring_up_asking()

    def shell(self, command, **more):
        return self.one('shell', {'command': command, **more})['ok']

    def test_runs_in_the_workspace(self):
        self.write('job.sh', '#!/bin/sh\necho "ran $1"\n').chmod(0o755)
        result = self.shell('pwd; ./job.sh here; echo more >> out.txt; exit 3')
        self.assertEqual(result['content'][0]['text'], f'{self.workspace}\nran here\n')
        self.assertEqual((result['isError'], result['structured']['exit_code']), (True, 3))
        self.assertEqual((self.workspace / 'out.txt').read_text(), 'more\n')

    def test_sees_nothing_else(self):
        (self.daemon.base / 'secret').write_text('secret')
        result = self.shell(f'''cat {self.daemon.base}/secret {self.daemon.home}/config.toml; ls {Path.home()} /run/user /etc/passwd
            echo x > /usr/x; echo x > {self.daemon.base}/x; env | sort
            test -S "$XDG_RUNTIME_DIR/bus" && echo bus; cat /proc/1/environ; echo end''')
        text = result['content'][0]['text']
        self.assertNotIn('secret\n', text)
        self.assertNotIn('features', text)
        self.assertFalse((self.daemon.base / 'x').exists())
        self.assertTrue(text.endswith('end\n'), text)
        names = {line.split('=')[0] for line in text.splitlines() if '=' in line and line[0].isupper()}
        self.assertLessEqual(names, {'HOME', 'LANG', 'PATH', 'PWD', 'TERM', 'TMPDIR', 'OLDPWD', 'SHLVL'}, text)

    def test_has_no_network(self):
        code = ('import socket\\nfor f in (socket.AF_INET, socket.AF_UNIX):\\n try:\\n  socket.socket(f); print("socket")\\n'
                ' except OSError as e: print("refused")')
        self.assertEqual(self.shell(f"printf '{code}' | python3 -")['content'][0]['text'], 'refused\nrefused\n')

    def test_what_it_leaves_behind_dies_with_it(self):
        result = self.shell('(sleep 60; echo late > late.txt) & nohup setsid sleep 61 >/dev/null 2>&1 & echo done')
        self.assertEqual(result['content'][0]['text'], 'done\n')
        iterate_until(lambda: not [name for name in self.units.names() if 'core' in name], what='the end of the unit')
        self.assertFalse((self.workspace / 'late.txt').exists())

    def test_ends_in_time(self):
        result = self.shell('echo begun; sleep 60', timeout_ms=500)
        self.assertTrue(result['isError'])
        self.assertTrue(result['structured']['timed_out'])
        self.assertIn('begun', result['content'][0]['text'])

    def test_X15_long_output_is_cut_with_its_counts(self):
        result = self.shell('seq 1 100000')
        text = ''.join(block['text'] for block in result['content'])
        self.assertLess(len(text), 300 * 1024)
        self.assertIn('588895 bytes', text)
        self.assertIn('left out', text)
        self.assertTrue(text.startswith('1\n2\n') and '100000\n' in text)
        self.assertEqual(result['structured']['output_bytes'], 588895)

    def test_writing_tools_cannot_run_what_is_in_the_workspace(self):
        """Their units are mounted so; a shell's is not. Both are said by the launcher before anything runs."""
        self.assertFalse(self.shell('true')['isError'])
        self.assertFalse(self.one('write_file', {'path': 'x.sh', 'content': 'x'})['ok']['isError'])

    def test_units_are_named_and_gone(self):
        call = self.begin(('shell', {'command': 'while [ ! -e go ]; do sleep 0.1; done'}))
        iterate_until(lambda: [name for name in self.units.names() if 'core' in name], what='a unit of the core')
        self.write('go', '')
        call.result(30)
        iterate_until(lambda: not [name for name in self.units.names() if 'core' in name], what='the end of the unit')
