# SPDX-License-Identifier: MIT
"""A core call that names more files than are looked at: what was not judged does not pass for judged (B5, C1)."""

from codewhale import ClientCore, CoreCase, RulesCase, rule
from codewhale.bus import GLib

MANY = [f'plain/{number}' for number in range(64)]
PATCH = ''.join(f'*** Update File: {path}\n' for path in MANY)


class Many(CoreCase, RulesCase):
    """The client is the core here: its tools take many files at once."""

    def setUp(self):
        super().setUp()
        self.person = self.approver(lambda card: 'allow')
        self.bring_up_asking()
        self.core = ClientCore(self.client, lambda name, arguments: {'content': []})
        self.session = self.open_session(workspace=str(self.workspace_with_law()))
        self.core.register(self.session, [{'name': 'apply_patch'}, {'name': 'edit_file'}, {'name': 'shell'}])

    def workspace_with_law(self):
        (self.workspace / '.codewhale').mkdir()
        (self.workspace / '.codewhale' / 'law.toml').write_text('[[protect]]\npath = "deploy/**"\n')
        return self.workspace

    def refused_by(self, source, *call):
        before = len(self.core.calls)
        outcome = self.one(*call)
        [record] = self.records(kind='core-call', limit=GLib.Variant('u', 1))
        self.assertEqual((outcome.get('code'), record['trace'][-1]['source']), ('refused', source), outcome)
        self.assertEqual(len(self.core.calls), before)

    def drop_law(self):
        (self.workspace / '.codewhale' / 'law.toml').write_text('')
        self.client.call('', 'Reload')

    def test_B5_the_one_behind_the_last_that_is_looked_at(self):
        self.rules(user=rule('deny', tool='*', path='secret/**', id='secret'))
        for last, source in (('secret/a', 'rule:user:secret'), ('deploy/a', 'law:deploy/**')):
            self.refused_by(source, 'apply_patch', {'patch': f'*** Update File: {last}\n'})
            self.refused_by(source, 'edit_file', {'edits': [{'path': 'a'}, {'deep': {'path': last}}]})
        # Of too many the worst is thought, whatever the last one is.
        for call in (('apply_patch', {'patch': PATCH + '*** Update File: deploy/a\n'}), ('edit_file', {'paths': [*MANY, 'secret/a']}),
                     ('edit_file', {'paths': ['x'] * 5000})):
            self.refused_by('rule:user:secret', *call)

    def test_a_rule_that_allows_is_for_all_of_them(self):
        self.rules(user=rule('allow', caller='*/asking', path='plain/**'))
        self.assertIn('ok', self.one('edit_file', {'paths': MANY}))
        self.assertEqual([card['tool'] for card in self.person.cards], ['ask'])
        self.refused_by('law:deploy/**', 'edit_file', {'paths': [*MANY, 'elsewhere']})
        # Without a law it would be a question; but no card can be bound to them.
        self.drop_law()
        self.refused_by('operands', 'edit_file', {'paths': [*MANY, 'elsewhere']})

    def test_AP_01_a_command_binds_what_it_names_however_long_it_is(self):
        self.drop_law()
        for path in ('job.sh', 'sub/job.sh'):
            self.write(path, 'echo first\n')
        padding = ': ' + ' '.join(map(str, range(100)))
        for command in (f'{padding}; sh ./job.sh', 'cd sub && sh job.sh', 'env -C sub sh ./job.sh', 'x=./job.sh; sh $x', 'sh -c "cd sub; ./job.sh"'):
            with self.subTest(command=command):
                self.person.cards.clear()
                self.assertIn('ok', self.one('shell', {'command': command}))
                card = self.person.cards[-1]
                self.assertIn('sub/job.sh' if 'sub' in command else 'job.sh', [row['path'] for row in card['operands']])
                self.assertEqual('known only when it runs' in card['text'], '$' in command)
        self.refused_by('operands', 'shell', {'command': f'{padding * 20}; sh ./job.sh'})
        for number in range(65):
            self.write(f'many/{number}', '')
        self.refused_by('operands', 'shell', {'command': 'cat ' + ' '.join(f'many/{number}' for number in range(65))})

    def test_law_sees_where_a_command_goes(self):
        for arguments in ({'command': 'rm a', 'cwd': 'deploy'}, {'command': 'cd deploy && rm a'}, {'command': 'git -C deploy rm a'},
                          {'command': 'tar xf a --directory=deploy b'}, {'command': 'dd of=deploy/a'}):
            with self.subTest(arguments=arguments):
                self.refused_by('law:deploy/**', 'shell', arguments)

