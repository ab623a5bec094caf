# SPDX-License-Identifier: MIT
"""The desktop notification while cards wait: it points to the approver, answers nothing, and waits for nobody."""

from codewhale import ServiceCase, iterate_until, tool_source
from codewhale.daemon import CONFIG
from codewhale.notifications import NotificationServer
from codewhale.terminal import Terminal


class NotificationCase(ServiceCase):
    def setUp(self):
        super().setUp()
        self.client.bring_up(self.bundle('probe', tool_source("return 'done'")))

    def server(self, **more):
        server = NotificationServer(self.bus.address, **more)
        self.addCleanup(server.close)
        return server

    def ask(self, approver, **more):
        seen = len(approver.cards)
        call = self.client.start_tool('probe', more)
        iterate_until(lambda: len(approver.cards) > seen, what='a card')
        return call


class Notifications(NotificationCase):
    def test_shown_and_taken_back(self):
        server, approver = self.server(), self.approver(lambda card: None)
        call = self.ask(approver)
        iterate_until(lambda: server.shown, what='the notification')
        shown = server.shown[0]
        self.assertIn('probe', shown['body'])
        self.assertIn('approve --watch', shown['body'])
        self.assertEqual(shown['actions'][:1], ['default'])
        approver.answer(approver.cards[0], 'allow')
        call.result()
        iterate_until(lambda: server.closed == [1], what='the end of the notification')

    def test_one_for_all_cards(self):
        server, approver = self.server(), self.approver(lambda card: None)
        self.ask(approver)
        iterate_until(lambda: server.shown, what='the notification')
        for number in range(20):
            self.ask(approver, n=number)
        iterate_until(lambda: '21 cards' in server.shown[-1]['body'], what='the new number')
        self.assertEqual({shown['replaces'] for shown in server.shown[1:]}, {1})
        self.assertLess(len(server.shown), 21)

    def test_server_with_markup_and_without_actions(self):
        server, approver = self.server(abilities=('body', 'body-markup')), self.approver(lambda card: None)
        self.client.bring_up(self.bundle('other', tool_source("return 'x'", name='other')))
        self.ask(approver)
        iterate_until(lambda: server.shown, what='the notification')
        self.assertEqual(server.shown[0]['actions'], [])
        self.assertNotIn("'", server.shown[0]['body'])  # as an entity: what is text stays text

    def test_no_server(self):
        approver = self.approver(lambda card: None)
        call = self.ask(approver)
        approver.answer(approver.cards[0], 'allow')
        call.result()

    def test_server_that_comes_while_a_card_waits(self):
        approver = self.approver(lambda card: None)
        self.ask(approver)
        server = self.server()
        iterate_until(lambda: server.shown, what='the notification')

    def test_server_that_never_answers(self):
        """Nobody waits for it: calls and answers go on as if it were not there."""
        self.server(silent=True)
        approver = self.approver(lambda card: None)
        for _ in range(3):
            call = self.ask(approver)
            approver.answer(approver.cards[-1], 'allow')
            call.result()

    def test_click_raises_the_card_and_answers_nothing(self):
        server, approver = self.server(), self.approver(lambda card: None)
        raised = approver.signals('Approvals', 'Raised')
        call = self.ask(approver)
        iterate_until(lambda: server.last_id, what='the notification')
        for action in ('allow', 'approve', 'yes', 'once'):
            server.click(action=action)
        server.click(number=4711)
        server.click()
        self.assertEqual(raised.wait(), (approver.cards[0]['id'],))
        self.assertEqual(len(raised), 1)
        self.assertFalse(call.done)
        self.assertEqual(len(self.client.call('Approvals', 'List')), 1)

    def test_click_that_somebody_else_claims(self):
        """Only the owner of the server's name is listened to, and even he can only raise the card."""
        server, approver = self.server(), self.approver(lambda card: None)
        raised = approver.signals('Approvals', 'Raised')
        call = self.ask(approver)
        iterate_until(lambda: server.last_id, what='the notification')
        forger = self.server(own=False)
        forger.click(number=server.last_id)
        forger.call('org.freedesktop.DBus', 'GetId', path='/org/freedesktop/DBus', name='org.freedesktop.DBus')
        self.client.call('Approvals', 'List')
        self.assertEqual(raised, [])
        self.assertFalse(call.done)

    def test_raised_card_comes_to_the_front_of_the_terminal(self):
        terminal = Terminal(self.bus.address, 'approve', '--watch')
        self.addCleanup(terminal.close)
        terminal.read_until('Waiting for calls')
        server, approver = self.server(), self.approver(lambda card: None)
        for number in range(2):
            self.ask(approver, n=number)
        terminal.read_until(r'Card 1:(.|\n)*\[q\]')
        iterate_until(lambda: server.shown and '2 cards' in server.shown[-1]['body'], what='the notification')
        approver.answer(approver.cards[0], 'deny')  # in the other approver
        terminal.read_until(r'Card 2:(.|\n)*\[q\]')
        for number in range(2, 4):
            self.ask(approver, n=number)
        iterate_until(lambda: '3 cards' in server.shown[-1]['body'], what='the notification')
        server.click()
        terminal.press('n')
        iterate_until(lambda: len(self.client.call('Approvals', 'List')) == 2, what='the answer')


class Off(NotificationCase):
    config = CONFIG + '[approvals]\nnotify = false\n'

    def test_nothing_is_shown(self):
        server, approver = self.server(), self.approver(lambda card: None)
        call = self.ask(approver)
        approver.answer(approver.cards[0], 'allow')
        call.result()
        self.assertEqual(server.shown, [])
