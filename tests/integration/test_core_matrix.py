# SPDX-License-Identifier: MIT
"""The table of contract 5.6.2, cell by cell, on the live service: an extension asks the core under each posture."""

import json

from codewhale import ClientCore, CoreCase
from codewhale.daemon import CONFIG

AUTO = [('read', {'path': 'a.txt'}), ('read_file', {'path': 'a.txt'}), ('list_dir', {}), ('file_search', {'pattern': '*'}), ('grep_files', {'pattern': 'x'}),
        ('File', {'action': 'list'}), ('File', {'action': 'read', 'path': 'a.txt'})]
ORDINARY = [('write_file', {'path': 'b.txt', 'content': 'x'}), ('edit_file', {'path': 'a.txt', 'old_string': 'x', 'new_string': 'x'})]
FORCED = [('shell', {'command': 'true'}), ('bash', {'command': 'true'})]
REFUSED = [('agent', {}), ('execute_tools', {})]


class Matrix(CoreCase):
    # Lowering a posture is anybody's, raising is a person's: so it begins at the top.
    config = CONFIG + '[policy]\nposture = "full-access"\n'

    def setUp(self):
        super().setUp()
        self.write('a.txt', 'x')
        self.word = 'allow'
        self.person = None

    def with_person(self):
        self.person = self.approver(lambda card: 'allow' if card['tool'] == 'ask' else self.word)
        self.bring_up_asking()

    def under(self, posture, calls, session=None):
        """The outer call is begun where it may begin; then the posture is what counts for the core calls, which it makes when it is
        told to."""
        session = session or self.open_session(posture='full-access')
        before = len(self.person.cards) if self.person else 0
        call = self.begin(*calls, session=session, hold=True)
        self.wait_until_held()
        if posture != self.client.property('Session', 'Posture', session):
            self.set_posture(posture, session)
        self.lead('go')
        done = json.loads(call.result(60))['structured']['done']
        cards = [card['tool'] for card in self.person.cards[before:] if card['tool'] != 'ask'] if self.person else []
        return [outcome.get('code', 'runs') for outcome in done], cards

    def assertCells(self, posture, calls, outcome, cards):
        with self.subTest(posture=posture, calls=[name for name, _ in calls]):
            self.assertEqual(self.under(posture, calls), ([outcome] * len(calls), [name for name, _ in calls] if cards else []))

    def test_X11_ask(self):
        self.with_person()
        self.assertCells('ask', AUTO, 'runs', False)
        self.assertCells('ask', ORDINARY, 'runs', True)
        self.assertCells('ask', FORCED, 'runs', True)
        self.assertCells('ask', REFUSED, 'refused', False)
        self.word = 'deny'
        self.assertCells('ask', ORDINARY[:1] + FORCED[:1], 'denied', True)

    def test_X11_full_access(self):
        self.with_person()
        self.assertCells('full-access', AUTO, 'runs', False)
        self.assertCells('full-access', ORDINARY, 'runs', False)
        self.assertCells('full-access', FORCED, 'runs', True)
        self.assertCells('full-access', REFUSED, 'refused', False)

    def test_X11_auto_review(self):
        self.with_person()
        self.assertCells('auto-review', AUTO, 'runs', False)
        self.assertCells('auto-review', ORDINARY + FORCED, 'denied', False)
        self.assertCells('auto-review', REFUSED, 'refused', False)

    def test_X11_never(self):
        self.with_person()
        self.assertCells('never', AUTO, 'runs', False)
        self.assertCells('never', ORDINARY + FORCED, 'denied', False)
        self.assertCells('never', REFUSED, 'refused', False)

    def test_X11_headless_full_access(self):
        self.bring_up_asking()
        self.assertCells('full-access', AUTO + ORDINARY, 'runs', False)
        self.assertCells('full-access', FORCED, 'denied', False)
        self.assertCells('full-access', REFUSED, 'refused', False)

    def test_X11_plan_mode_reads_only(self):
        self.with_person()
        session = self.open_session(posture='full-access')
        call = self.begin(*AUTO, *ORDINARY, *FORCED, session=session, hold=True)
        self.wait_until_held()
        self.client.call('Session', 'SetMode', '(s)', 'plan', path=session)
        self.lead('go')
        codes = [outcome.get('code', 'runs') for outcome in json.loads(call.result(60))['structured']['done']]
        self.assertEqual(codes, ['runs'] * len(AUTO) + ['refused'] * (len(ORDINARY) + len(FORCED)))

    def test_X11_AP_21_grants(self):
        """A grant of this extension's build answers ordinary calls in Ask, and nothing else."""
        self.with_person()
        session = self.open_session(posture='ask')
        self.word = ('allow', 'arguments')
        self.assertEqual(self.under('ask', ORDINARY[:1], session), (['runs'], ['write_file']))
        self.assertEqual(self.under('ask', ORDINARY[:1], session), (['runs'], []))
        self.word = 'allow'
        self.assertEqual(self.under('ask', [('write_file', {'path': 'c.txt', 'content': 'x'})], session), (['runs'], ['write_file']))
        for _ in range(2):
            self.assertEqual(self.under('ask', FORCED[:1], session), (['runs'], ['shell']))
        self.assertEqual(self.person.cards[-1]['grants'], [])
        self.assertEqual(self.under('never', ORDINARY[:1], session), (['denied'], []))

    def test_X11_what_was_denied_for_the_session_stays_denied(self):
        self.with_person()
        session = self.open_session(posture='full-access')
        self.set_posture('ask', session)
        self.word = ('deny', 'session')
        for call in (ORDINARY[0], FORCED[0]):
            self.assertEqual(self.under('ask', [call], session), (['denied'], [call[0]]))
        self.word = 'allow'
        # Nobody is asked again, under no posture; another call of the same tool is another matter.
        for posture in ('ask', 'never'):
            self.assertEqual(self.under(posture, [ORDINARY[0], FORCED[0]], session), (['denied', 'denied'], []), posture)
            self.set_posture('ask', session)

    def test_X14_grants_are_for_one_extension_and_one_build(self):
        self.with_person()
        session = self.open_session(posture='ask')
        self.word = ('allow', 'arguments')
        self.assertEqual(self.under('ask', ORDINARY[:1], session), (['runs'], ['write_file']))
        self.word = 'allow'
        first = self.plugin
        self.bring_up_asking('other', 'ask_too')
        self.assertEqual(self.asked_by('ask_too', session), ['write_file'])
        [grant] = [row for row in self.grants() if 'write_file' in row]
        self.assertIn('asking', grant)
        # In the other direction: what the other one was granted is nothing for the first, once its own is gone.
        self.person.decide = lambda card: ('allow', 'arguments') if card['tool'] == 'write_file' else 'allow'
        self.assertEqual([self.asked_by('ask_too', session) for _ in range(2)], [['write_file'], []])
        # Other bytes are another build.
        for verb in ('Disable', 'Uninstall'):
            self.client.plugin(verb, first)
        folder = self.bundles / 'asking'
        for path in folder.rglob('*.mjs'):
            path.write_text(path.read_text() + '// changed\n')
        self.client.bring_up(folder)
        self.assertEqual([self.asked_by('ask', session) for _ in range(2)], [['write_file'], []])

    def asked_by(self, tool, session):
        """What a person is asked when this tool writes the file: its own call aside."""
        before = len(self.person.cards)
        self.assertIn('ok', self.outcomes(*ORDINARY[:1], tool=tool, session=session)[0])
        return [card['tool'] for card in self.person.cards[before:] if card['tool'] == 'write_file']

    def grants(self):
        return [str(row) for row in self.client.call('Grants', 'List', '()')]

    def test_X12_forced_by_name_action_and_capability(self):
        """A client's core declares what it likes: some names force a person all the same."""
        self.with_person()
        core = ClientCore(self.client, lambda name, arguments: {'content': [{'type': 'text', 'text': 'ran'}]})
        tools = [{'name': name, 'requirement': 'auto'} for name in (
            'web.run', 'git_fetch', 'finance', 'run_tests', 'run_verifiers', 'verify', 'harness', 'exec_shell', 'fetch_url', 'Git', 'Run', 'Web', 'tasks',
            'github', 'notify')] + [{'name': 'sonar', 'requirement': 'auto', 'capabilities': ['network']},
                                    {'name': 'spawn', 'requirement': 'auto', 'capabilities': ['process']}]
        session = self.open_session(posture='full-access')
        core.register(session, tools)
        forced = [(name, {}) for name in ('web.run', 'Git_Fetch', 'FINANCE', 'run_tests', 'Run_Verifiers', 'verify', 'harness', 'sonar', 'spawn', 'bash')] + [
            ('git', {'action': 'fetch'}), ('RUN', {'action': 'tests'}), ('Web', {'action': 'search'}), ('web', {'action': 'fetch'}),
            ('tasks', {'action': 'gate_run'}), ('GitHub', {'action': 'issue_context'})]
        codes, cards = self.under('full-access', forced, session)
        self.assertEqual((codes, cards), (['runs'] * len(forced), [name for name, _ in forced]))
        plain = [('notify', {}), ('Git', {'action': 'status'}), ('tasks', {'action': 'list'})]
        self.assertEqual(self.under('full-access', plain, session), (['runs'] * len(plain), []))

    def test_X13_every_auto_eligible_name_only_reads(self):
        self.with_person()
        before = sorted((path.name, path.read_bytes()) for path in self.workspace.iterdir())
        self.assertCells('never', AUTO, 'runs', False)
        self.assertEqual(sorted((path.name, path.read_bytes()) for path in self.workspace.iterdir()), before)
