# SPDX-License-Identifier: MIT
"""The outer matrix of contract 5.6.1, cell by cell, on the live service."""

from codewhale import BusError, RulesCase
from codewhale.matrix import COLUMNS, OUTER, OUTER_PLAN, POSTURES, SEEN

ARGUMENTS = {'n': 1}


class OuterMatrix(RulesCase):
    def setUp(self):
        super().setUp()
        self.answer = 'allow'
        self.cards = 0
        self.plugin = self.tool_bundle()

    def on_card(self, card):
        self.cards += 1
        return self.answer

    def person(self):
        approver = self.approver(self.on_card)
        self.addCleanup(approver.close)
        return approver

    def call(self, session):
        """The error's name, or None when it ran."""
        try:
            self.client.tool('probe', ARGUMENTS, session=session)
        except BusError as error:
            return error.name.rsplit('.', 1)[1]
        return None

    def prepared(self, posture, column):
        """A session in which somebody said yes or no before, under Ask."""
        session = self.session(posture='ask')
        if column == 'grant':
            self.answer = ('allow', 'tool')
            self.assertIsNone(self.call(session))
        elif column == 'denial':
            self.answer = ('deny', 'session')
            self.assertEqual(self.call(session), 'Denied')
        self.answer = 'allow'
        if posture != 'ask':
            # Raising is a card of its own.
            self.client.call('Session', 'SetPosture', '(s)', posture, path=session)
        return session

    def check(self, row, column, expected, session):
        error, outcome = SEEN[expected]
        self.cards = 0
        with self.subTest(cell=f'5.6.1/{row}/{column}', expected=expected):
            self.assertEqual(self.call(session), error)
            self.assertEqual(self.cards, 1 if expected == 'card' else 0)
            records = [record for record in self.records() if record['kind'] == 'call']
            self.assertEqual(records[0]['outcome'], outcome)
            self.assertTrue(records[0]['trace'])

    def records(self):
        import json
        return sorted(json.loads(self.client.call('Decisions', 'Query', '(a{sv})', {})), key=lambda record: -record['time'])

    def row(self, posture, headless=False):
        approver = self.person()
        sessions = [self.prepared(posture, column) for column in COLUMNS]
        if headless:
            approver.close()
        for column, expected, session in zip(COLUMNS, OUTER[(posture, headless)], sessions):
            self.check(f'{posture}{"-headless" if headless else ""}', column, expected, session)

    def test_5_6_1_ask(self):
        self.row('ask')

    def test_5_6_1_auto_review(self):
        self.row('auto-review')

    def test_5_6_1_full_access(self):
        self.row('full-access')

    def test_5_6_1_never(self):
        self.row('never')

    def test_5_6_1_headless_ask(self):
        self.row('ask', headless=True)

    def test_5_6_1_headless_full_access(self):
        self.row('full-access', headless=True)

    def test_5_6_1_plan_mode_in_any_posture(self):
        self.person()
        for posture in POSTURES:
            for column, expected in zip(COLUMNS, OUTER_PLAN):
                session = self.prepared(posture, column)
                self.client.call('Session', 'SetMode', '(s)', 'plan', path=session)
                self.check(f'plan-{posture}', column, expected, session)

    def test_5_6_1_explained_without_calling(self):
        """What a dry run says of each cell is what becomes of the call."""
        self.person()
        verdicts = {'run': 'allow', 'card': 'ask', 'held': 'deny', 'denied': 'deny'}
        for posture in POSTURES:
            for column, expected in zip(COLUMNS, OUTER[(posture, False)]):
                with self.subTest(cell=f'5.6.1/{posture}/{column}'):
                    session = self.prepared(posture, column)
                    self.cards = 0
                    self.assertEqual(self.explain('probe', ARGUMENTS, session=session)['verdict'], verdicts[expected])
                    self.assertEqual(self.cards, 0)
