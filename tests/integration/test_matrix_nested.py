# SPDX-License-Identifier: MIT
"""The matrix of contract 5.6.2, cell by cell, and rules over what a plugin asks the core for, on the live service.

The outer call is allowed by a rule about exactly its build, so that it runs in every posture and no answer is about it."""

from codewhale import CoreCase, iterate_until, rule
from codewhale.matrix import COLUMNS, NESTED, POSTURES, SEEN

# kind of core tool -> the one that is called, with arguments that work
CALLS = {
    'auto-eligible': ('read', {'path': 'a.txt'}),
    'ordinary': ('write_file', {'path': 'b.txt', 'content': 'x'}),
    'forced': ('shell', {'command': 'true'}),
    'refused': ('request_user_input', {}),
}


class NestedCase(CoreCase):
    def setUp(self):
        super().setUp()
        self.answer = 'allow'
        self.cards = []
        self.person = self.approver(self.on_card)
        self.bring_up_asking()
        self.outer = rule('allow', plugin=self.plugin, build=self.client.review(self.plugin)['content_hash'])
        self.rules()
        self.write('a.txt', 'text\n')

    def on_card(self, card):
        self.cards.append(card)
        return self.answer

    def rules(self, more=''):
        (self.daemon.home / 'permissions.toml').write_text(self.outer + more)
        self.client.call('', 'Reload')

    def nested(self, call, session=None):
        """What became of one call: its outcome for the plugin, and the record of it."""
        self.cards.clear()
        outcome = self.one(*call, session=session or self.session)
        record = next((record for record in self.records() if record['kind'] == 'core-call'), None)
        return outcome, record


class NestedMatrix(NestedCase):
    def prepared(self, kind, posture, column):
        session = self.open_session(posture='ask')
        if column == 'grant' and kind == 'ordinary':  # of the others no grant can be given
            self.answer = ('allow', 'arguments')
            self.nested(CALLS[kind], session)
        elif column == 'denial' and kind != 'refused':
            # Reading asks nobody by itself, so there a rule asks.
            self.rules(rule('ask', caller='*', tool='read*') if kind == 'auto-eligible' else '')
            self.answer = ('deny', 'session')
            self.assertEqual(self.nested(CALLS[kind], session)[1]['outcome'], 'denied')
            self.rules()
        self.answer = 'allow'
        if posture != 'ask':
            self.set_posture(posture, session)
        return session

    def walk(self, kind):
        prepared = {(posture, column): self.prepared(kind, posture, column) for posture in POSTURES for column in COLUMNS}
        for posture in POSTURES:
            self.row(kind, (posture, False), [prepared[(posture, column)] for column in COLUMNS])
        self.person.close()
        self.row(kind, ('full-access', True), [prepared[('full-access', column)] for column in COLUMNS])

    def row(self, kind, row, sessions):
        for column, expected, session in zip(COLUMNS, NESTED[kind][1][row], sessions):
            posture, headless = row
            with self.subTest(cell=f'5.6.2/{kind}/{posture}{"-headless" if headless else ""}/{column}', expected=expected):
                outcome, record = self.nested(CALLS[kind], session)
                if kind == 'refused':  # before anything is planned
                    self.assertEqual((outcome['code'], record['trace'][-1]['source']), ('refused', 'refused-list'))
                self.assertEqual(record['outcome'], SEEN[expected][1], (outcome, record.get('trace')))
                self.assertEqual('ok' in outcome, SEEN[expected][0] is None, outcome)
                self.assertEqual(len(self.cards), 1 if expected in ('card', 'forced') else 0)
                if expected == 'forced':
                    self.assertEqual([grant for grant in self.cards[0]['grants'] if grant['scope'] != 'once'], [])

    def test_X11_5_6_2_auto_eligible(self):
        self.walk('auto-eligible')

    def test_X11_5_6_2_ordinary(self):
        self.walk('ordinary')

    def test_X11_5_6_2_AP_21_forced(self):
        self.walk('forced')

    def test_AP_21_no_grant_is_given_for_a_forced_call(self):
        self.person.decide = lambda card: self.cards.append(card)
        call = self.begin(CALLS['forced'])
        iterate_until(lambda: self.cards, what='the card')
        for scope in ('arguments', 'tool'):
            self.assertFails('InvalidArguments', self.person.answer, self.cards[0], 'allow', scope=scope)
        self.assertEqual(self.client.call('Grants', 'List', '()'), [])
        self.assertFalse(call.done)
        self.person.answer(self.cards[0], 'allow')
        call.result(60)
        self.assertEqual(self.client.call('Grants', 'List', '()'), [])

    def test_X11_X03_5_6_2_refused(self):
        self.walk('refused')


class RulesOverRevisions(NestedCase):
    """B5, X16, HK-14: rules look at what was asked for and at what would run, and the stricter one counts."""

    def revising(self, tool, before, after):
        import json
        source = f"""
export const inject = []
export function apply(ctx) {{
  ctx.on('tools/pre-execute', (call, next) =>
    call.name === {json.dumps(tool)} && JSON.stringify(call.arguments) === JSON.stringify({json.dumps(before)})
      ? {{ kind: 'revise', input: {json.dumps(after)} }} : next())
}}
"""
        return self.client.bring_up(self.bundle('reviser', source))

    def withdraw(self, plugin):
        import shutil
        self.client.plugin('Disable', plugin)
        self.client.plugin('Uninstall', plugin)
        shutil.rmtree(self.bundles / 'reviser')

    def test_B5_denied_commands_into_and_out_of(self):
        self.rules('[commands]\ndeny = ["curl"]\n')
        bad, good = {'command': 'echo a; curl x'}, {'command': 'echo fine'}
        for before, after in ((bad, good), (good, bad)):
            with self.subTest(before=before, after=after):
                plugin = self.revising('shell', before, after)
                outcome, record = self.nested(('shell', before))
                self.assertNotIn('ok', outcome)
                self.assertEqual((record['outcome'], record['trace'][-1]['source']), ('refused-by-policy', 'rule:user:commands.deny'))
                self.assertEqual(self.cards, [])
                self.withdraw(plugin)
        self.assertIn('ok', self.nested(('shell', good))[0])

    def test_B5_denied_paths_into_and_out_of(self):
        self.rules(rule('deny', tool='write_file', path='secret/**', id='secret'))
        secret, plain = ({'path': path, 'content': 'x', 'create_directories': True} for path in ('secret/a', 'plain/a'))
        for before, after in ((secret, plain), (plain, secret)):
            with self.subTest(before=before, after=after):
                plugin = self.revising('write_file', before, after)
                outcome, record = self.nested(('write_file', before))
                self.assertNotIn('ok', outcome)
                self.assertEqual(record['trace'][-1]['source'], 'rule:user:secret')
                self.withdraw(plugin)
        self.assertFalse((self.workspace / 'secret').exists() or (self.workspace / 'plain').exists())

    def test_B5_a_question_about_the_original_stays(self):
        self.rules(rule('ask', tool='write_file', path='look/**') + rule('allow', caller='*', path='fine/**'))
        look, fine = ({'path': path, 'content': 'x', 'create_directories': True} for path in ('look/a', 'fine/a'))
        self.nested(('write_file', fine))
        self.assertEqual(self.cards, [])
        self.revising('write_file', look, fine)
        self.nested(('write_file', look))
        self.assertEqual(len(self.cards), 1)
        self.assertIn('fine/a', str(self.cards[0]['arguments']))

    def test_repository_law_reaches_core_calls(self):
        (self.workspace / '.codewhale').mkdir()
        (self.workspace / '.codewhale' / 'law.toml').write_text('[[protect]]\npath = "deploy/**"\nwhy = "It goes live."\n')
        outcome, record = self.nested(('write_file', {'path': 'deploy/a', 'content': 'x', 'create_directories': True}))
        self.assertNotIn('ok', outcome)
        self.assertEqual((record['trace'][-1]['source'], record['trace'][-1]['why']), ('law:deploy/**', 'It goes live'))
        self.assertTrue(record['trace'][-1]['at'].endswith('/.codewhale/law.toml:1'))
        self.assertIn('ok', self.nested(('write_file', {'path': 'other.txt', 'content': 'x'}))[0])

    def test_caller_rules_let_through_what_they_name(self):
        self.rules(rule('allow', caller='*/asking', path='docs/**'))
        for path, cards in (('docs/a.md', 0), ('src/a.c', 1), ('docs/../src/b.c', 1)):
            with self.subTest(path=path):
                self.nested(('write_file', {'path': path, 'content': 'x', 'create_directories': True}))
                self.assertEqual(len(self.cards), cards)
        # Never a command, whatever a rule says.
        self.rules(rule('allow', caller='*', tool='*'))
        self.nested(('shell', {'command': 'true'}))
        self.assertEqual(len(self.cards), 1)
