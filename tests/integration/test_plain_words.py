# SPDX-License-Identifier: MIT
"""Words of a stranger that would steer a terminal or turn a line around: they reach nobody as they are, by no way out (AP-07, C7)."""

import json
import re

from codewhale import RulesCase, iterate_until, options, tool_source
from codewhale.notifications import NotificationServer
from codewhale.terminal import run

LABEL = '\x1b[2J\x1b[1;1HApproved\x9b31m'
HOSTILE = LABEL + '\u202eevil\u200b'
JS = json.dumps(HOSTILE)
HARMFUL = re.compile('[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]')


def strings_of(value):
    """Every string of a JSON value, names of members too."""
    if isinstance(value, str):
        return [value]
    parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for part in parts for text in strings_of(part)]


class PlainWords(RulesCase):
    def setUp(self):
        super().setUp()
        self.server = NotificationServer(self.bus.address)
        self.addCleanup(self.server.close)
        self.client.bring_up(self.bundle('probe', tool_source(f'ctx.logger.warn({JS}); throw new Error({JS})').replace(
            "'Made for a test.'", "'label ' + " + json.dumps('\u202eevil'))))
        self.client.bring_up(self.bundle('guard', f"""export function apply(ctx) {{ ctx.on('tools/pre-execute', (call, next) =>
            call.arguments.ask ? {{ kind: 'ask', reason: 'line\\nAsked because: Approved ' + {JS} }} : call.arguments.deny ? {{ kind: 'deny', reason: {JS} }} : next()) }}"""))

    def assertPlain(self, *texts):
        for text in texts:
            self.assertIsNone(HARMFUL.search(text), repr(text))

    def assertShown(self, text):
        """It is there to be read, escaped."""
        self.assertPlain(text)
        self.assertIn('Approved', text)

    def test_AP_07_names_that_callers_give_are_plain_or_refused(self):
        for method, values in (('Sessions.Open', {'workspace': f'/tmp/{HOSTILE}'}), ('Sessions.Open', {'model': HOSTILE}),
                               ('Sessions.Open', {'label': HOSTILE})):
            with self.subTest(method=method, option=list(values)):
                error = self.assertFails('InvalidOption', self.client.call, *method.split('.'), '(a{sv})', options(**values))
                self.assertPlain(error.message)

    def test_AP_07_C7_no_way_out(self):
        session = self.session()
        person = self.approver(lambda card: None)
        text = HOSTILE.replace('\x1b', '\\u001b')  # JSON takes all others as they are
        call = self.client.start_tool('probe', f'{{"ask": "{text}", "{text}": 1}}', session=session)
        iterate_until(lambda: person.cards and self.server.shown, what='the card and the notification')

        # To approvers: the card, what lists it, the notification, the one-shot approver.
        card = person.cards[0]
        self.assertTrue(card['escaped'])
        self.assertPlain(*strings_of(card), *self.client.call('Approvals', 'List')[0][1:])
        self.assertShown(card['text'])
        self.assertIn('Approved', str(card['reasons']))
        self.assertNotIn('\nAsked because: Approved', card['text'])
        self.assertPlain(self.server.shown[0]['summary'], self.server.shown[0]['body'])
        listed = run(self.bus.address, 'approve')
        self.assertPlain(listed.stdout, listed.stderr)

        # To the caller, by a denying listener and by the tool itself.
        person.answer(card, 'allow')
        self.assertShown(self.assertFails('ExecutionFailed', call.result).message)
        self.assertShown(self.assertFails('HookDenied', self.client.tool, 'probe', {'deny': True}, session=session).message)
        done = run(self.bus.address, 'call', 'probe', json.dumps({'deny': True}))
        self.assertPlain(done.stdout, done.stderr)

        # To the log, and to whoever reads the record.
        iterate_until(lambda: 'Approved' in self.daemon.log(), what='the line of the log')
        self.assertPlain(self.daemon.log())
        records = json.loads(self.client.call('Decisions', 'Query', '(a{sv})', {}))
        self.assertPlain(*strings_of(records))
        for words in (('decisions',), *(('why', record['call']) for record in records if record.get('call'))):
            done = run(self.bus.address, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertPlain(done.stdout, done.stderr)
        for file in (self.daemon.home / 'extensions' / 'decisions').iterdir():
            self.assertPlain(file.read_text())
