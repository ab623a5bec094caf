# SPDX-License-Identifier: MIT
"""The record of who decided what: complete, told in sentences, found again, bounded, and whole after a crash (C4, C12)."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

from codewhale import Client, ServiceCase, iterate_until, options, tool_source
from codewhale.daemon import CONFIG
from codewhale.terminal import run


def _t(number):
    from gi.repository import GLib
    return GLib.Variant('t', number)


class RecordCase(ServiceCase):
    def setUp(self):
        super().setUp()
        self.plugin = self.client.bring_up(self.bundle('probe', tool_source("if (input.fail) throw new Error('no luck'); return 'done'")))

    def records(self, **more):
        return json.loads(self.client.call('Decisions', 'Query', '(a{sv})', options(**more)))

    def configure(self, text):
        self.daemon.write_config(text)
        self.client.call('', 'Reload')

    def path(self):
        return max((self.daemon.home / 'extensions' / 'decisions').glob('decisions-*.jsonl'))


class Kinds(RecordCase):
    def test_C12_everything_of_one_call(self):
        """The call, its card and the answer go by one id, and each names the program that did it."""
        approver = self.approver(lambda card: ('allow', 'tool'))
        call_id = self.client.tool('probe', {'a': 1})['call_id']
        record = self.client.decision(call_id)
        kinds = {related['kind']: related for related in record['related']}
        self.assertEqual(sorted(kinds), ['answer', 'card', 'grant'])
        self.assertEqual([kinds[kind]['outcome'] for kind in ('card', 'answer', 'grant')], ['opened', 'approved', 'given'])
        self.assertEqual(kinds['answer']['who']['name'], approver.unique_name)
        self.assertEqual(record['who'], {**record['who'], 'name': self.client.unique_name, 'uid': os.getuid()})
        # Whoever did something is named in the same way: this process is the caller and the approver.
        for row, name in ((record, self.client.unique_name), (kinds['card'], self.client.unique_name),
                          (kinds['answer'], approver.unique_name), (kinds['grant'], approver.unique_name)):
            self.assertEqual((row['who']['name'], row['who']['uid'], row['who']['exe']),
                             (name, os.getuid(), os.path.realpath('/proc/self/exe')), row['kind'])
            self.assertIn(row['who'].get('unit', ''), Path('/proc/self/cgroup').read_text())
            self.assertEqual('unit' in row['who'], '.service' in Path('/proc/self/cgroup').read_text())
        self.assertIn(approver.unique_name, record['answered_by'])
        self.assertRegex(record['arguments_digest'], '^[0-9a-f]{64}$')
        self.assertNotIn('arguments', record)
        for words in ('A person was asked', 'A person approved it', 'for longer than once', approver.unique_name, 'probe'):
            self.assertIn(words, record['story'])

    def test_trust_acts(self):
        for verb in ('Disable', 'Enable', 'Disable', 'Revoke', 'Uninstall'):
            self.client.plugin(verb, self.plugin)
        found = [record for record in self.records(kind='trust')][::-1]
        self.assertEqual([record['outcome'] for record in found],
                         ['installed', 'trusted', 'enabled', 'disabled', 'enabled', 'disabled', 'revoked', 'uninstalled'])
        for record in found:
            self.assertEqual((record['plugin'], record['who']['name']), (self.plugin, self.client.unique_name))
            self.assertTrue(self.client.decision(record['call'])['story'])
        self.assertEqual(found[1]['answered_by'], 'token')

    def test_C4_six_outcomes(self):
        """None is told as another, on the bus, in the record or in the story."""
        seen = {}

        def ends(error, act):
            if error:
                self.assertFails(error, act)
            else:
                act()
            record = self.records(kind='call')[0]
            seen[record['outcome']] = self.client.decision(record['call'])['story'].split('\n\n')[-1]

        ends('NoApprover', lambda: self.client.tool('probe'))
        approver = self.approver(lambda card: 'deny')
        ends('Denied', lambda: self.client.tool('probe'))
        approver.decide = lambda card: 'allow'
        ends(None, lambda: self.client.tool('probe'))
        session = self.client.call('Sessions', 'Open', '(a{sv})', options(posture='never'))
        ends('RefusedByPolicy', lambda: self.client.tool('probe', session=session))
        approver.decide = lambda card: None
        self.configure(CONFIG + '[approvals]\ntimeout_sec = 1\n')
        ends('TimedOut', lambda: self.client.tool('probe'))
        self.assertNotIn(approver.unique_name, self.records(kind='card')[0].get('answered_by', ''))  # AP-15: it blames nobody
        self.configure(CONFIG)  # what is withdrawn next has all the time there is
        call = self.client.start_tool('probe')
        iterate_until(lambda: len(self.client.call('Approvals', 'List')) == 1, what='the card')
        self.client.plugin('Disable', self.plugin)
        with self.assertRaises(Exception):
            call.result()
        self.assertEqual(self.records(kind='card')[0]['outcome'], 'withdrawn')
        self.assertEqual(set(seen), {'no-approver', 'denied', 'approved', 'refused-by-policy', 'timed-out'})
        self.assertEqual(len(set(seen.values())), len(seen))

    def test_C12_every_listener_is_named(self):
        """Also one that had no opinion, and one that said no."""
        self.approver()
        for name, verdict in (('quiet', 'return next()'), ('noter', "return { kind: 'annotate', text: 'seen' }"),
                              ('guard', "return call.arguments.bad ? { kind: 'deny', reason: 'bad' } : next()")):
            self.client.bring_up(self.bundle(name, "export const inject = []\nexport function apply(ctx) { ctx.on('tools/pre-execute', "
                                                   f"async (call, next) => {{ {verdict} }}) }}\n"))
        record = self.client.decision(self.client.tool('probe')['call_id'])
        for words in ('quiet: abstain', 'noter: annotate', 'guard: abstain'):
            self.assertIn(words, record['hooks'])
            self.assertIn(words, record['story'])
        self.assertFails('HookDenied', self.client.tool, 'probe', {'bad': True})
        self.assertIn('guard: deny', self.records(kind='call')[0]['hooks'])

    def test_execution_that_failed_was_allowed(self):
        self.approver()
        self.assertFails('ExecutionFailed', self.client.tool, 'probe', {'fail': True})
        record = self.records(kind='call')[0]
        self.assertEqual((record['outcome'], record['result']), ('approved', 'ExecutionFailed'))

    def test_grant_that_expires(self):
        from gi.repository import GLib
        approver = self.approver(lambda card: None)
        call = self.client.start_tool('probe')
        iterate_until(lambda: approver.cards, what='the card')
        approver.answer(approver.cards[0], 'allow', scope='tool', seconds=GLib.Variant('u', 2))
        call.result()
        grants = self.client.call('Grants', 'List')
        described = json.loads(self.client.call('Grants', 'Describe', '(s)', grants[0][0]))
        self.assertIn('2 s', described['words'])
        self.assertEqual(described['expires_usec'] - described['given_usec'], 2000000)
        self.assertIn(approver.unique_name, described['given_by'])
        call = self.client.start_tool('probe')
        iterate_until(lambda: call.done or len(approver.cards) > 1, what='an answer, or a card where its time is over already')
        if call.done:
            call.result()
        else:
            approver.answer(approver.cards[1], 'deny')
        iterate_until(lambda: not self.client.call('Grants', 'List'), what='the end of the grant')
        self.assertEqual(self.records(kind='grant')[0]['outcome'], 'expired')
        approver.vanish()
        self.assertFails('NoApprover', self.client.tool, 'probe')

    def test_revoked_grant_answers_nothing_that_waits(self):
        """A call that still waits for its listener when the grant is taken back is asked about."""
        self.client.bring_up(self.bundle('slow', '''
            export const inject = ['storage']
            export function apply(ctx) { ctx.on('tools/pre-execute', async (call, next) => {
              for (let n = 0; n < 100 && call.arguments.wait && !(await ctx.storage.get('go')); n++) await new Promise((r) => setTimeout(r, 20))
              return next() }) }'''))
        approver = self.approver(lambda card: ('allow', 'tool'))
        self.client.tool('probe')
        approver.decide = lambda card: 'deny'
        call = self.client.start_tool('probe', {'wait': True})
        self.client.call('Grants', 'Revoke', '(s)', self.client.call('Grants', 'List')[0][0])
        self.assertFails('Denied', call.result)
        self.assertEqual(self.records(kind='grant')[0]['who']['name'], self.client.unique_name)

    def test_query(self):
        self.approver()
        first = self.client.tool('probe', {'n': 1})['call_id']
        middle = self.records(kind='call')[0]['time']
        second = self.client.tool('probe', {'n': 2})['call_id']
        self.assertEqual([record['call'] for record in self.records(kind='call')], [second, first])
        self.assertEqual([record['call'] for record in self.records(kind='call', since_usec=_t(middle + 1))], [second])
        self.assertEqual([record['call'] for record in self.records(kind='call', until_usec=_t(middle))], [first])
        self.assertEqual(self.records(kind='call', tool='other'), [])
        self.assertEqual(len(self.records(kind='call', plugin=self.plugin, tool='probe', outcome='approved', session='s1')), 2)
        self.assertEqual(self.records(session='s99'), [])

    def test_command_line(self):
        self.approver()
        call_id = self.client.tool('probe')['call_id']
        told = run(self.bus.address, 'why', call_id)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn('A person approved it', told.stdout)
        listed = run(self.bus.address, 'decisions', '--kind=answer')
        self.assertIn('approved', listed.stdout)
        self.assertNotIn('trusted', listed.stdout)
        self.assertIn(call_id, run(self.bus.address, 'decisions', '--session=s1').stdout)


class Kept(RecordCase):
    config = CONFIG + '[decisions]\nkeep_arguments = true\n'

    def test_arguments_are_kept_where_they_are_wanted(self):
        self.approver()
        record = self.client.decision(self.client.tool('probe', '{"n":  12345678901234567890, "a": "\u00e4"}')['call_id'])
        self.assertEqual(record['arguments'], {'n': 12345678901234567890, 'a': '\u00e4'})
        self.assertIn('They were:', record['story'])


class Crashes(RecordCase):
    def test_killed_service_loses_nothing_that_was_answered(self):
        """SIGKILL in the middle of many calls: every call that was answered is in the record, and every line is whole."""
        approver = self.approver(lambda card: ('allow', 'tool'))
        self.client.tool('probe')
        calls = [self.client.start_tool('probe', {'n': number}) for number in range(100)]
        iterate_until(lambda: sum(call.done for call in calls) > 30, what='some answers')
        self.daemon.kill()
        answered = [json.loads(call.reply[0])['call_id'] for call in calls if call.reply]
        self.assertGreater(len(answered), 30)
        self.daemon.start()
        client = self.connect()
        for call_id in answered:
            self.assertEqual(client.decision(call_id)['call'], call_id)
        for line in self.path().read_text().splitlines():
            json.loads(line)
        self.assertTrue(approver)

    def test_torn_line_is_cut_off_and_the_rest_is_read(self):
        self.approver()
        first = self.client.tool('probe')['call_id']
        self.daemon.stop()
        with self.path().open('a') as file:
            file.write('{"time":1,"kind":"call","call":"c-torn","outc')
        self.daemon.start()
        client = self.connect()
        self.assertTrue(client.decision(first)['story'])
        self.assertFails('NoSuchDecision', client.decision, 'c-torn')
        client.wait_for_tools('probe')
        self.assertFails('NoApprover', client.tool, 'probe')
        for line in self.path().read_text().splitlines():
            json.loads(line)


@unittest.skipUnless(os.path.exists('/run/private-systemd'), "the journal of a desktop's user is left alone")
class Journal(RecordCase):
    def entries(self, message_id):
        out = subprocess.run(['journalctl', '--user', '-o', 'json', f'MESSAGE_ID={message_id}'], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, check=False).stdout
        return [json.loads(line) for line in out.splitlines()]

    def test_entries_can_be_found_by_their_fields(self):
        header = (self.daemon_source() / 'common' / 'messages.h').read_text()
        ids = dict(re.findall(r'#define MESSAGE_(\w+) "([0-9a-f]{32})"', header))
        self.daemon.stop()
        self.daemon.start('--log-target=journal')
        client = Client(self.bus.address)
        self.addCleanup(client.close)
        client.wait_for_tools('probe')
        self.assertFails('NoApprover', client.tool, 'probe')
        self.assertFails('NotApprover', client.call, 'Approvals', 'Answer', '(tssa{sv})', 1, 'allow', 'x', {})
        call_id = json.loads(client.call('Decisions', 'Query', '(a{sv})', options(kind='call')))[0]['call']
        iterate_until(lambda: any(entry.get('CODEWHALE_CALL') == call_id for entry in self.entries(ids['DECISION'])), what='the entry')
        entry = next(entry for entry in self.entries(ids['DECISION']) if entry.get('CODEWHALE_CALL') == call_id)
        self.assertEqual((entry['CODEWHALE_OUTCOME'], entry['CODEWHALE_TOOL'], entry['CODEWHALE_PLUGIN']), ('no-approver', 'probe', self.plugin))
        attempt = next(entry for entry in self.entries(ids['ATTEMPT']) if entry['CODEWHALE_CLIENT'] == client.unique_name)
        self.assertEqual(attempt['CODEWHALE_RESULT'], 'NotApprover')
        self.assertTrue(attempt['MESSAGE'].endswith(': refused: NotApprover'), attempt['MESSAGE'])
        shown = run(self.bus.address, 'decisions', '--kind=attempt').stdout
        self.assertIn('  refused: NotApprover  ', shown)

    @staticmethod
    def daemon_source():
        from codewhale.daemon import ROOT
        return ROOT
