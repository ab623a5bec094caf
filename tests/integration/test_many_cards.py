# SPDX-License-Identifier: MIT
"""A thousand open cards on the live bus: opened by many clients, listed, answered and withdrawn, and nothing of them is left."""

import json
import re
from pathlib import Path

from codewhale import ServiceCase, iterate_until, options, tool_source

CLIENTS, EACH = 16, 63  # below what one client and one plugin may have open
ALL = CLIENTS * EACH
ROUNDS = 3
GROWTH_KIB = 6 * 1024  # of what a round's cards take while they are open, this is a fraction


class ManyCards(ServiceCase):
    def setUp(self):
        super().setUp()
        self.client.bring_up(self.bundle('probe', tool_source("return 'ran'")))
        self.person = self.connect()
        self.person.call('Approvals', 'Register', '(a{sv})', options(label='person'))

    def count(self):
        return self.client.property('', 'ApprovalCount')

    def resident_kib(self):
        return int(re.search(r'VmRSS:\s+(\d+)', Path(f'/proc/{self.daemon.process.pid}/status').read_text())[1])

    def ask(self):
        clients = [self.connect() for _ in range(CLIENTS)]
        calls = {client: [client.start_tool('probe', {'client': number, 'n': n}, seconds=120) for n in range(EACH)]
                 for number, client in enumerate(clients)}
        iterate_until(lambda: self.count() == ALL, 120, f'{ALL} open cards')
        return clients, calls

    def cards(self):
        return [number for number, _ in self.person.call('Approvals', 'List')]

    def answer(self, number, word):
        card = json.loads(self.person.call('Approvals', 'Describe', '(t)', number))
        return card, self.person.start('Approvals', 'Answer', '(tssa{sv})', number, word, card['digest'], {})

    def one_round(self):
        clients, calls = self.ask()
        numbers = self.cards()
        self.assertEqual(len(numbers), ALL)
        self.assertEqual(numbers, sorted(set(numbers)), 'in order, each once')
        extra = clients[0].start_tool('probe', {'one': 'more'})
        # One more than the limit of a client is refused while all others wait.
        more = clients[0].start_tool('probe', {'two': 'more'})
        self.assertFails('LimitExceeded', more.result)

        # Some are answered, each for itself: the newest, the oldest, one from the middle.
        answered = [*numbers[:40], *numbers[500:520], *numbers[-40:]]
        for at, number in enumerate(answered):
            card, answer = self.answer(number, 'allow' if at % 2 else 'deny')
            answer.result()
            arguments = json.loads(card['arguments'])
            call = calls[clients[arguments['client']]][arguments['n']]
            if at % 2:
                self.assertEqual(json.loads(call.result(60))['content'][0]['text'], 'ran')
            else:
                self.assertFails('Denied', call.result)
        self.assertEqual(self.count(), ALL + 1 - len(answered))
        self.assertEqual(sum(call.done for rows in calls.values() for call in rows), len(answered), 'nobody else was answered')

        # The others are withdrawn: their clients leave.
        for client in clients[:CLIENTS // 2]:
            client.vanish()
        left = [client for client in clients[CLIENTS // 2:]]
        open_calls = sum(not call.done for client in left for call in calls[client])
        iterate_until(lambda: self.count() == open_calls, 60, 'the end of the cards of those who left')
        self.person.call('Approvals', 'Unregister')
        for client in left:
            for call in calls[client]:
                if not call.done or call.error:
                    iterate_until(lambda: call.done, 60, 'an answer')  # pylint: disable=cell-var-from-loop
        self.assertEqual((self.count(), self.cards()), (0, []))
        names = {call.error.name.rsplit('.', 1)[1] for client in left for call in calls[client] if call.error}
        self.assertEqual(names, {'NoApprover', 'Denied'})
        self.person.call('Approvals', 'Register', '(a{sv})', options(label='person'))
        for client in clients:
            client.close()
        self.assertFalse(extra.done and extra.reply)

    def test_opened_listed_answered_withdrawn_and_gone(self):
        self.one_round()
        after_one = self.resident_kib()
        for _ in range(ROUNDS - 1):
            self.one_round()
        self.assertLess(self.resident_kib() - after_one, GROWTH_KIB)
