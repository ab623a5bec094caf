# SPDX-License-Identifier: MIT
"""Sessions: their folder, what they may do and who may change that, and their end."""

import json

from codewhale import Client, ServiceCase, iterate_until, options, tool_source


class SessionCase(ServiceCase):
    def setUp(self):
        super().setUp()
        self.client.bring_up(self.bundle('probe', tool_source('return JSON.stringify(exec.workspace ?? null)')))

    def open(self, client=None, **more):
        return (client or self.client).call('Sessions', 'Open', '(a{sv})', options(**more))

    def set(self, what, word, session):
        return self.client.call('Session', what, '(s)', word, path=session)

    def show(self, name, session):
        return self.client.property('Session', name, path=session)

    def records(self, **more):
        return json.loads(self.client.call('Decisions', 'Query', '(a{sv})', options(**more)))


class Workspace(SessionCase):
    def setUp(self):
        super().setUp()
        self.folder = self.daemon.base / 'work'
        self.folder.mkdir()

    def test_renamed_and_replaced_folder_is_noticed(self):
        self.approver()
        session = self.open(workspace=str(self.folder))
        self.client.tool('probe', session=session)
        moved = self.folder.rename(self.daemon.base / 'moved')
        self.assertIn('is gone', self.assertFails('RefusedByPolicy', self.client.tool, 'probe', session=session).message)
        self.folder.mkdir()
        self.assertIn('another folder', self.assertFails('RefusedByPolicy', self.client.tool, 'probe', session=session).message)
        self.folder.rmdir()
        moved.rename(self.folder)
        self.client.tool('probe', session=session)

    def test_folder_that_is_none(self):
        (self.daemon.base / 'file').touch()
        for path in (self.daemon.base / 'nowhere', self.daemon.base / 'file', '/dev/null'):
            with self.subTest(path=path):
                self.assertFails('InvalidOption', self.open, workspace=str(path))
        self.assertEqual(self.client.call('Sessions', 'List'), [])

    def test_replaced_while_a_person_is_asked(self):
        """The question was about the folder of then: it is looked at again before the call runs."""
        approver = self.approver(lambda card: None)
        session = self.open(workspace=str(self.folder))
        call = self.client.start_tool('probe', session=session)
        iterate_until(lambda: approver.cards, what='the card')
        self.assertEqual(approver.cards[0]['workspace'], str(self.folder))
        self.folder.rename(self.daemon.base / 'moved')
        self.folder.mkdir()
        approver.answer(approver.cards[0], 'allow')
        self.assertFails('RefusedByPolicy', call.result)


class Rights(SessionCase):
    def test_raise_that_a_person_confirms(self):
        approver = self.approver(lambda card: 'allow')
        session = self.open()
        self.set('SetPosture', 'full-access', session)
        self.assertEqual(self.show('Posture', session), 'full-access')
        self.assertIn('posture ask to full-access', approver.cards[0]['text'])
        approver.vanish()
        self.client.tool('probe', session=session)  # nobody is there, and nobody is asked
        record = self.records(kind='posture')[0]
        self.assertEqual((record['outcome'], record['session']), ('raised', 's' + session.rsplit('/', 1)[1]))
        self.assertIn(approver.unique_name, record['answered_by'])

    def test_card_of_a_raise_goes_with_its_session(self):
        approver = self.approver(lambda card: None)
        session = self.open()
        raised = self.client.start('Session', 'SetPosture', '(s)', 'full-access', path=session)
        iterate_until(lambda: approver.cards, what='the card')
        self.client.call('Session', 'Close', path=session)
        self.assertFails('Withdrawn', raised.result)
        self.assertEqual(approver.closed.wait()[1], 'withdrawn')

    def test_tightening_counts_for_what_waits(self):
        for what, word in (('SetPosture', 'never'), ('SetPosture', 'auto-review'), ('SetMode', 'plan')):
            with self.subTest(word=word):
                approver = self.approver(lambda card: None)
                session = self.open()
                call = self.client.start_tool('probe', session=session)
                iterate_until(lambda: approver.cards, what='the card')
                self.set(what, word, session)
                self.assertFails('RefusedByPolicy', call.result)
                self.assertEqual(approver.closed.wait()[1], 'withdrawn')
                approver.close()

    def test_loosening_within_what_asks_is_free(self):
        session = self.open(posture='never', mode='plan')
        self.set('SetMode', 'agent', session)
        self.set('SetPosture', 'ask', session)
        self.assertFails('NoApprover', self.client.tool, 'probe', session=session)
        self.assertEqual([record['outcome'] for record in self.records(kind='posture')], ['changed', 'changed'])

    def test_provenance_narrows(self):
        """What came from the web can't inherit what a person allowed for the session (contract 5.5.2)."""
        approver = self.approver(lambda card: 'allow')
        session = self.open()
        self.set('SetPosture', 'full-access', session)
        approver.vanish()
        iterate_until(lambda: not self.client.call('Approvals', 'List'), what='no card')
        for word in ('user', 'runtime', 'sub-agent'):
            self.client.tool('probe', session=session, provenance=word)
        for word in ('web', 'file', 'tool-output'):
            self.assertFails('NoApprover', self.client.tool, 'probe', session=session, provenance=word)
            record = self.records(kind='call')[0]
            self.assertEqual((record['provenance'], record['posture']), (word, 'full-access'))
            self.assertIn('counts as ask', json.dumps(record['trace']))
        self.assertFails('InvalidOption', self.client.tool, 'probe', session=session, provenance='Not A Word')


class Life(SessionCase):
    def test_list(self):
        mine = self.open(label='mine', mode='plan', posture='never')
        other = self.connect()
        self.open(other, label='other')
        rows = {row[0]: row[1:] for row in self.client.call('Sessions', 'List')}
        self.assertEqual(rows[mine], ('mine', '', 'plan', 'never'))
        self.assertEqual(sorted(row[0] for row in rows.values() if row[0]), ['mine', 'other'])

    def test_ends_with_its_connection(self):
        approver = self.approver(lambda card: None)
        closed = self.client.signals('Sessions', 'Closed')
        other = Client(self.bus.address)
        session = self.open(other)
        other.start_tool('probe', session=session)
        iterate_until(lambda: approver.cards, what='the card')
        other.vanish()
        self.assertEqual(closed.wait(), (session,))
        self.assertEqual(approver.closed.wait()[1], 'withdrawn')

    def test_each_client_has_its_share(self):
        for _ in range(32):
            self.open()
        self.assertFails('LimitExceeded', self.open)
        self.open(self.connect())

    def test_deceiving_label(self):
        for label in ('a\nb', '\u202egpj', 'x' * 257, '\x1b[2J'):
            self.assertFails('InvalidOption', self.open, label=label)
