# SPDX-License-Identifier: MIT
"""Rules of the administrator, the user and the workspace, on calls of the live service."""

import json

from codewhale import BusError, RulesCase, iterate_until, rule, tool_source



class Order(RulesCase):
    """C10, AP-11 to AP-13: deny before ask before allow, whoever wrote it, in every posture."""

    def setUp(self):
        super().setUp()
        self.approver_cards = self.approver(lambda card: self.answer)
        self.answer = 'allow'
        self.plugin = self.client.bring_up(self.bundle('probe', tool_source(
            "return 'ran'", name='look', more='''
  for (const name of ['push', 'wipe'])
    ctx.tools.register({ name, description: 'x', parameters: { type: 'object' }, async execute() { return 'ran' } })''')))
        self.build = self.client.review(self.plugin)['content_hash']

    def allow_all(self):
        return rule('allow', plugin=self.plugin, build=self.build, tool='*')

    def outcome(self, tool, session=None):
        """'allow', 'ask' or 'deny', as it came to be."""
        before = len(self.approver_cards.cards)
        try:
            self.client.tool(tool, **({'session': session} if session else {}))
        except BusError as error:
            self.assertTrue(error.name.endswith('.RefusedByPolicy'), error)
            return 'deny'
        return 'ask' if len(self.approver_cards.cards) > before else 'allow'

    def test_AP_13_C10_allow_all_ask_push_deny_wipe_in_all_postures(self):
        self.rules(user=self.allow_all() + rule('ask', tool='push*') + rule('deny', tool='wipe*', why='never'))
        # Where no card may open, a question is a refusal.
        for posture, push in (('ask', 'ask'), ('auto-review', 'deny'), ('never', 'deny'), ('full-access', 'deny')):
            session = self.session(posture='ask')
            if posture != 'ask':
                self.client.call('Session', 'SetPosture', '(s)', posture, path=session)
            for tool, expected in (('push', push), ('wipe', 'deny'), ('look', 'allow')):
                with self.subTest(posture=posture, tool=tool):
                    self.assertEqual(self.outcome(tool, session), expected)

    def test_AP_12_one_allow_rule_leaves_the_rest_alone(self):
        self.rules(user=rule('allow', plugin=self.plugin, build=self.build, tool='look'))
        self.assertEqual([self.outcome(tool) for tool in ('look', 'push', 'wipe')], ['allow', 'ask', 'ask'])

    def test_AP_11_administrators_question_is_not_granted_away(self):
        self.rules(administrator=rule('ask', tool='push', id='site'), user=self.allow_all())
        self.answer = ('allow', 'tool')
        # What the card does not offer is not given.
        before = len(self.approver_cards.cards)
        call = self.client.start_tool('push')
        iterate_until(lambda: len(self.approver_cards.cards) > before, what='the card')
        card = self.approver_cards.cards[-1]
        self.assertEqual([grant['scope'] for grant in card['grants'] if grant['scope'] != 'once'], [])
        self.assertFails('InvalidArguments', self.approver_cards.answer, card, 'allow', scope='tool')
        self.assertFalse(call.done)
        self.approver_cards.answer(card, 'allow')
        self.assertIn('ran', call.result())
        self.assertEqual(self.client.call('Grants', 'List'), [])
        # So the second call asks like the first.
        self.answer = 'allow'
        self.assertEqual(self.outcome('push'), 'ask')
        # A grant from before the administrator's question answers it neither.
        self.rules(administrator='', user='')
        self.answer = ('allow', 'tool')
        self.assertEqual([self.outcome('push'), self.outcome('push')], ['ask', 'allow'])
        self.rules(administrator=rule('ask', tool='push', id='site'))
        self.answer = 'allow'
        self.assertEqual([self.outcome('push'), self.outcome('push')], ['ask', 'ask'])

    def test_C10_administrator_beats_user_and_neither_loosens(self):
        session = self.session(posture='ask')
        words = {'deny': rule('deny', tool='look'), 'ask': rule('ask', tool='look'), 'allow': self.allow_all(), 'nothing': '# nothing\n'}
        strict = {'allow': 0, 'ask': 1, 'deny': 2}
        for administrator, admin_text in words.items():
            for user, user_text in words.items():
                with self.subTest(administrator=administrator, user=user):
                    self.rules(user=user_text, administrator=admin_text)
                    said = [word for word in (administrator, user) if word != 'nothing']
                    expected = max(said, key=strict.get) if said else 'ask'
                    self.assertEqual(self.outcome('look', session), expected)

    def test_other_bytes_are_another_build(self):
        self.rules(user=self.allow_all())
        self.assertEqual(self.outcome('look'), 'allow')
        self.rules(user=rule('allow', plugin=self.plugin, build='0' * 64, tool='*'))
        self.assertEqual(self.outcome('look'), 'ask')

    def test_C12_the_record_names_the_rule_and_its_line(self):
        self.rules(user='# one\n# two\n' + rule('deny', tool='wipe', id='no-wiping', why='It is gone for good.'))
        error = self.assertFails('RefusedByPolicy', self.client.tool, 'wipe')
        self.assertIn('It is gone for good (rule', error.message)
        step = self.trace(None)[-1]
        self.assertEqual((step['layer'], step['verdict'], step['source']), ('rules', 'deny', 'rule:user:no-wiping'))
        self.assertEqual(step['at'], f'{self.user_file}:3')


class Lists(RulesCase):
    def test_tools_that_are_denied_and_lists_of_allowed_ones(self):
        self.approver()
        for name in ('alpha', 'beta'):
            self.tool_bundle(name)
        for user, administrator, alpha, beta in (
                ('[tools]\ndeny = ["Alpha"]\n', '', False, True), ('[tools]\nallow = ["beta"]\n', '', False, True),
                ('[tools]\nallow = ["alpha", "beta"]\n', '[tools]\nallow = ["alpha"]\n', True, False),
                ('[tools]\nallow = ["alpha"]\ndeny = ["alpha"]\n', '', False, False), ('', '', True, True)):
            with self.subTest(user=user, administrator=administrator):
                self.rules(user=user, administrator=administrator)
                for name, runs in (('alpha', alpha), ('beta', beta)):
                    if runs:
                        self.client.tool(name)
                    else:
                        self.assertFails('RefusedByPolicy', self.client.tool, name)

    def test_the_administrator_limits_the_posture(self):
        approver = self.approver()
        self.tool_bundle()
        session = self.session()
        self.client.call('Session', 'SetPosture', '(s)', 'full-access', path=session)
        before = len(approver.cards)
        self.client.tool('probe', session=session)
        self.assertEqual(len(approver.cards), before)
        self.rules(administrator='[policy]\nposture = "ask"\n')
        self.client.tool('probe', session=session)
        self.assertEqual(len(approver.cards), before + 1)
        self.rules(administrator='[policy]\nposture = "never"\n')
        self.assertFails('RefusedByPolicy', self.client.tool, 'probe', session=session)
        step = self.trace(None)[0]
        self.assertEqual((step['source'], step['at']), ('administrator', f'{self.administrator_file}:2'))


class Files(RulesCase):
    """Reading, mistakes, and what is in force then."""

    def problem(self):
        return self.client.property('Policy', 'Problem')

    def test_mistakes_are_named_by_line_and_the_last_good_rules_stay(self):
        self.tool_bundle()
        self.rules(user=rule('deny', tool='probe', id='mine'))
        self.assertFails('RefusedByPolicy', self.client.tool, 'probe')
        changed = self.client.signals('Policy', 'Changed')
        for text, words in (
                ('[[rule]]\noutcome = "deny"\n\n[[rule]]\ntool = "x"\noutcom = "ask"\n', ':1:1: rule 1: it must say what it is about'),
                ('# fine\n\n[[rule\n', ':3:7: this is not TOML'), ('\ntool = 1\n', ':2:1: permissions: there is no "tool"'),
                ('[commands]\ndeny = [\n  "rm -rf",\n  "a | b",\n]\n', ':4:3: commands.deny: ')):
            with self.subTest(text=text):
                error = self.assertFails('InvalidArguments', self.rules, text)
                self.assertIn(f'{self.user_file}{words}', error.message)
                self.assertTrue(self.problem().startswith(f'{self.user_file}{words}'), self.problem())
                self.assertIn(self.problem(), self.daemon.log())
                self.assertIn(self.problem(), self.client.property('', 'Health'))
                self.assertEqual(self.shown()['in_force'], 'last-good')
                self.assertFails('RefusedByPolicy', self.client.tool, 'probe')
        changed.wait(4)
        self.rules(user='')
        self.assertEqual((self.problem(), self.shown()['in_force']), ('', 'files'))
        self.assertFails('NoApprover', self.client.tool, 'probe')

    def test_doctor_tells(self):
        self.assertFails('InvalidArguments', self.rules, 'x = 1\n')
        checks = {check['name']: check for check in json.loads(self.client.call('', 'Doctor', seconds=60))['checks']}
        self.assertEqual(checks['permissions']['verdict'], 'failed')
        self.assertIn(f'{self.user_file}:1', checks['permissions']['found'])

    def test_one_broken_file_keeps_all_as_they_were(self):
        self.tool_bundle()
        self.rules(user='', administrator=rule('deny', tool='probe'))
        self.assertFails('InvalidArguments', self.rules, 'broken', '')
        self.assertFails('RefusedByPolicy', self.client.tool, 'probe')

    def test_broken_at_the_start_nothing_runs(self):
        self.approver()
        self.tool_bundle()
        self.client.tool('probe')
        self.daemon.stop()
        self.user_file.write_text('[[rule]]\noutcome = "deny"\ntool = "other"\nmisspelt = 1\n')
        self.daemon.start()
        client = self.connect()
        self.approver()
        client.wait_for_tools('probe')
        error = self.assertFails('RefusedByPolicy', client.tool, 'probe')
        self.assertIn(f'{self.user_file}:4', error.message)
        self.user_file.write_text('')
        client.call('', 'Reload')
        self.assertIn('ran', str(client.tool('probe')))

    def test_the_administrators_file_or_the_configuration_broken_at_the_start(self):
        """What can't be read may hold the guard or the rule that denies: nothing runs and nobody is asked, until it was read."""
        self.tool_bundle()
        config = self.daemon.home / 'config.toml'
        good = config.read_text()
        for path, broken, mended in ((self.administrator_file, '[[rule]]\noutcome = 5\n', ''), (config, good + '[policy\n', good)):
            with self.subTest(path=path.name):
                self.daemon.stop()
                path.write_text(broken)
                self.daemon.start()
                client = self.client = self.connect()
                approver = self.approver()
                self.assertIn(str(path), client.property('', 'Health'))
                self.assertIn('Nothing runs until that is mended', self.daemon.log())
                checks = {check['name']: check for check in json.loads(client.call('', 'Doctor', seconds=60))['checks']}
                check = checks['configuration' if path == config else 'permissions']
                self.assertEqual(check['verdict'], 'failed')
                self.assertIn('Nothing runs until', check['advice'])
                # No plugin is on without its configuration; the core's own tools would be.
                self.assertFails('RefusedByPolicy' if path != config else 'NoSuchTool', client.tool, 'probe')
                if path != config:
                    report = self.explain('probe')
                    [layer] = [layer for layer in report['layers'] if layer['decided']]
                    self.assertEqual((report['verdict'], layer['steps'][-1]['source']), ('deny', 'permissions'))
                if path == config:
                    session = self.session()
                    self.assertFails('RefusedByPolicy', client.call, 'Session', 'SetPosture', '(s)', 'full-access', path=session)
                self.assertEqual(approver.cards, [])
                path.write_text(mended)
                client.call('', 'Reload')
                client.wait_for_tools('probe')
                self.assertIn('ran', str(client.tool('probe')))

    def test_a_link_or_a_folder_is_no_file_of_rules(self):
        real = self.daemon.base / 'elsewhere.toml'
        real.write_text('')
        self.user_file.symlink_to(real)
        error = self.assertFails('InvalidArguments', self.client.call, '', 'Reload')
        self.assertIn('link', error.message)
        self.user_file.unlink()
        self.user_file.mkdir()
        self.assertFails('InvalidArguments', self.client.call, '', 'Reload')
        self.user_file.rmdir()
        self.client.call('', 'Reload')

    def test_rules_that_change_while_a_person_is_asked(self):
        approver = self.approver(lambda card: None)
        self.tool_bundle()
        call = self.client.start_tool('probe')
        iterate_until(lambda: approver.cards, what='a card')
        self.rules(user=rule('deny', tool='probe'))
        self.assertFails('RefusedByPolicy', call.result)
        self.assertEqual(approver.closed.wait(), (approver.cards[0]['id'], 'withdrawn'))


class Workspaces(RulesCase):
    """What a project says can only tighten, and counts from the next call on."""

    def setUp(self):
        super().setUp()
        self.cards = self.approver().cards
        self.tool_bundle()

    def test_law_and_wishes(self):
        free = self.session(workspace=str(self.workspace(name='free')))
        self.client.tool('probe', session=free)
        for name, law, config, source in (
                ('lawful', '[[tools]]\ntool = "probe"\nwhy = "not here"\n', None, 'law:probe'),
                ('denying', None, '[tools]\ndeny = ["probe"]\n', 'project'),
                ('never', None, '[policy]\nposture = "never"\n', 'posture:never')):
            with self.subTest(name=name):
                session = self.session(workspace=str(self.workspace(law, config, name)))
                self.assertFails('RefusedByPolicy', self.client.tool, 'probe', session=session)
                self.assertEqual(self.trace(None)[-1]['source'], source)
        self.client.tool('probe', session=free)

    def test_a_project_loosens_nothing(self):
        self.rules(user=rule('deny', tool='probe'))
        for number, config in enumerate((
                '[policy]\nposture = "full-access"\n', '[tools]\nallow = ["probe"]\n', rule('allow', tool='probe'),
                '[commands]\ntrust = ["rm"]\n')):
            with self.subTest(config=config):
                session = self.session(workspace=str(self.workspace(config=config, name=f'w{number}')))
                self.assertFails('RefusedByPolicy', self.client.tool, 'probe', session=session)
        self.rules(user='')
        before = len(self.cards)
        session = self.session(workspace=str(self.workspace(config='[policy]\nposture = "full-access"\n', name='w9')))
        self.client.tool('probe', session=session)
        self.assertEqual(len(self.cards), before + 1)

    def test_changes_count_from_the_next_call_on(self):
        folder = self.workspace(name='moving')
        session = self.session(workspace=str(folder))
        for _ in range(10):
            self.client.tool('probe', session=session)
            self.workspace('[[tools]]\ntool = "probe"\n', name='moving')
            self.assertFails('RefusedByPolicy', self.client.tool, 'probe', session=session)
            (folder / '.codewhale' / 'law.toml').rename(folder / '.codewhale' / 'away')
            self.client.tool('probe', session=session)
            (folder / '.codewhale' / 'away').rename(folder / '.codewhale' / 'law.toml')
            self.assertFails('RefusedByPolicy', self.client.tool, 'probe', session=session)
            (folder / '.codewhale').rename(folder / 'gone')
            self.client.tool('probe', session=session)
            (folder / 'gone' / 'law.toml').unlink()
            (folder / 'gone').rmdir()

    def test_what_can_not_be_read_asks_every_time(self):
        for name, law in (('broken', 'protect = 5\n'), ('allowing', '[[tools]]\ntool = "probe"\noutcome = "allow"\n')):
            with self.subTest(name=name):
                folder = self.workspace(law, name=name)
                session = self.session(workspace=str(folder))
                before = len(self.cards)
                self.client.tool('probe', session=session)
                self.assertEqual(len(self.cards), before + 1)
                self.assertEqual([grant for grant in self.cards[-1]['grants'] if grant['scope'] != 'once'], [])
                self.assertIn(f'{folder}/.codewhale/law.toml:', str(self.shown(session=session)['project']))
                self.assertIn('law.toml', self.daemon.log())

    def test_odd_things_in_its_place(self):
        import os
        for name in ('pipe', 'link', 'folder', 'huge'):
            with self.subTest(name=name):
                folder = self.workspace('', name=name)
                law = folder / '.codewhale' / 'law.toml'
                law.unlink()
                if name == 'pipe':
                    os.mkfifo(law)
                elif name == 'link':
                    law.symlink_to('/etc/hostname')
                elif name == 'folder':
                    law.mkdir()
                else:
                    law.write_text('#' * 100000)
                session = self.session(workspace=str(folder))
                before = len(self.cards)
                self.client.tool('probe', session=session)
                self.assertEqual(len(self.cards), before + 1)
                self.assertIn(f'{folder}/.codewhale/law.toml:', str(self.shown(session=session)['project']))

    def test_two_sessions_of_one_workspace_and_one_that_ends(self):
        folder = self.workspace(name='shared')
        first, second = (self.session(workspace=str(folder)) for _ in range(2))
        self.client.call('Session', 'Close', path=first)
        self.workspace('[[tools]]\ntool = "probe"\n', name='shared')
        self.assertFails('RefusedByPolicy', self.client.tool, 'probe', session=second)
