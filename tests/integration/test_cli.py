# SPDX-License-Identifier: MIT
"""codewhalectl against the real service: every verb, its JSON, its exit status, its words."""

import json
import os
import re
import signal
import time
import unittest

from codewhale import SAMPLES, ServiceCase, iterate_until, tool_source
from codewhale.terminal import begin, run

OK, FAILURE, USAGE, NOT_FOUND, REFUSED, UNREACHABLE, PLUGIN_FAILED, WRONG_STATE, UNANSWERED, INTERRUPTED = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 130)


class CliCase(ServiceCase):
    def ctl(self, *words, status=OK, **more):
        """Run to its end and check the exit status; returns what it printed and what it said."""
        done = run(self.bus.address, *words, **more)
        self.assertEqual(done.returncode, status, f'{words}\n{done.stdout}\n{done.stderr}')
        return done.stdout, done.stderr

    def json(self, *words, status=OK, **more):
        """With --json there is one JSON value on standard output and nothing else."""
        out, _ = self.ctl('--json', *words, status=status, **more)
        self.assertTrue(out.endswith('\n'))
        return json.loads(out)

    def says(self, pattern, *words, status, **more):
        """It fails with these words on standard error and prints nothing."""
        out, err = self.ctl(*words, status=status, **more)
        self.assertEqual(out, '')
        self.assertRegex(err, pattern)
        self.assertLess(len(err.splitlines()), 6, 'an error prints no help')

    def bring_up(self, name, source, **more):
        return self.client.bring_up(self.bundle(name, source, **more))


class Bundles(CliCase):
    def test_T01_from_a_folder_to_a_call(self):
        """The way of an author through contract 2.10, with the command line alone."""
        folder = str(SAMPLES / 'counter')
        self.ctl('validate', folder)
        out, err = self.ctl('install', folder)
        self.assertIn('counter', out)
        self.assertIn('codewhalectl review counter', err)

        review, err = self.ctl('enable', 'counter', status=WRONG_STATE)
        self.assertIn('What it asks for', review)
        self.assertIn('codewhalectl review counter', err)
        self.assertEqual(self.json('list')[0]['state'], 'disabled')

        review, _ = self.ctl('trust', 'counter')
        command = re.search(r'^  codewhalectl (trust counter [0-9a-f]{64}\.[0-9a-f]{64})$', review, re.MULTILINE)
        self.assertTrue(command, review)
        self.assertNotEqual(self.json('show', 'counter')['plugin']['trust'], 'trusted', 'showing the review trusts nothing')
        self.ctl(*command[1].split())
        self.assertEqual(self.json('list')[0]['state'], 'disabled', 'trusting enables nothing')

        self.ctl('enable', 'counter')
        self.assertEqual(self.json('list')[0]['state'], 'active')
        self.approver()
        out, _ = self.ctl('call', 'mod_counter', 'label=first')
        self.assertIn('first', out)
        self.assertEqual(self.ctl('run', 'mod-count')[0], 'The counter is at 1.\n')

        self.says('codewhalectl disable counter', 'uninstall', 'counter', status=WRONG_STATE)
        self.ctl('disable', 'counter')
        self.ctl('uninstall', 'counter')
        self.assertEqual(self.json('list'), [])

    def test_validate_says_what_is_wrong(self):
        folder = self.bundle('broken', manifest='{"name": "broken",}')
        out, _ = self.ctl('validate', str(folder), status=WRONG_STATE)
        self.assertRegex(out, r'(?m)^Valid: +no$')
        self.assertIn('error', out)
        self.assertFalse(self.json('validate', str(folder), status=WRONG_STATE)['valid'])

    def test_install_with_an_expected_hash(self):
        folder = self.bundle('probe', tool_source("return 'x'"))
        self.says('hash', 'install', '--expect=' + '0' * 64, str(folder), status=WRONG_STATE)
        content_hash = self.json('validate', str(folder))['content_hash']
        self.assertEqual(self.json('install', '--expect', content_hash, str(folder))['content_hash'], content_hash)
        self.says('codewhalectl uninstall', 'install', str(folder), status=WRONG_STATE)

    def test_trust_needs_the_right_token(self):
        self.client.install(self.bundle('probe', tool_source("return 'x'")))
        self.says('codewhalectl review probe', 'trust', 'probe', 'nonsense', status=USAGE)
        self.says('codewhalectl review probe', 'trust', 'probe', f'{"0" * 64}.{"1" * 64}', status=WRONG_STATE)

    def test_D1_review_of_changed_bytes(self):
        self.client.install(self.bundle('probe', tool_source("return 'x'")))
        self.client.trust('probe')
        root = self.json('show', 'probe')['plugin']['root']
        with open(f'{root}/native/main.mjs', 'a', encoding='utf-8') as entry:
            entry.write('// changed\n')
        self.ctl('reload')
        out, _ = self.ctl('review', 'probe')
        self.assertIn('What changed since it was last reviewed', out)
        self.assertIn('native/main.mjs', out)
        self.assertIn('+// changed', self.ctl('review', '--diff', 'probe')[0])
        self.assertIn('What changed', self.ctl('enable', 'probe', status=WRONG_STATE)[0])

    def test_revoke(self):
        self.bring_up('probe', tool_source("return 'x'"))
        self.ctl('revoke', 'probe')
        self.assertEqual(self.json('list')[0]['state'], 'enabled-untrusted')
        self.says('codewhalectl tools', 'call', 'probe', status=NOT_FOUND)

    def test_an_id_will_do_for_a_name(self):
        plugin = self.client.install(self.bundle('probe', tool_source("return 'x'")))['id']
        self.assertEqual(self.json('show', plugin)['plugin']['id'], plugin)

    def test_AP_07_hostile_text_steers_no_terminal(self):
        """Whatever a bundle says about itself, no control character of it is printed."""
        evil = 'x\\u001b[2J\\u009b31m\\u202e\\u200b'
        manifest = ('{"name": "probe", "version": "1.0.0", "description": "d%s", "extensions": {"net.codewhale": '
                    '{"native": {"paths": ["native/main.mjs"]}}}}' % evil)
        source = tool_source("return 'answer\\u001b[2J\\u009b31m'").replace('Made for a test.', 'Made.')
        folder = self.bundle('probe', source, manifest=manifest)
        for words in (('validate', str(folder)), ('install', str(folder)), ('list',), ('show', 'probe'), ('review', 'probe')):
            done = run(self.bus.address, *words)
            for text in (done.stdout, done.stderr):
                self.assertNotRegex(text, '[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]', words)


class Use(CliCase):
    SOURCE = tool_source('return JSON.stringify(input)')

    def setUp(self):
        super().setUp()
        self.bring_up('probe', self.SOURCE)

    def test_arguments(self):
        self.approver()
        for words, text, expected in (
                ((), None, {}),
                (('{"a": [1]}',), None, {'a': [1]}),
                (('-',), '{"b": "from a pipe"}', {'b': 'from a pipe'}),
                (('a=1', 'b=text', 'c=true', 'd:="1"', 'e=[1,"x"]'), None,
                 {'a': 1, 'b': 'text', 'c': True, 'd': '1', 'e': [1, 'x']})):
            with self.subTest(words=words):
                self.assertEqual(json.loads(self.ctl('call', 'probe', *words, text=text)[0]), expected)
        file = self.daemon.base / 'arguments.json'
        file.write_text('{"c": 3}')
        self.assertEqual(json.loads(self.ctl('call', 'probe', f'@{file}')[0]), {'c': 3})

    def test_arguments_that_are_no_json_are_never_sent(self):
        self.says('not JSON: .* line 1, column', 'call', 'probe', '{"a":}', status=USAGE)
        self.says('one JSON object, not array', 'call', 'probe', '-', text='[1]', status=USAGE)
        self.says('Cannot read', 'call', 'probe', '@/nonexistent', status=USAGE)
        self.says('given twice', 'call', 'probe', 'a=1', 'a=2', status=USAGE)

    def test_large_arguments_and_results(self):
        self.approver()
        text = json.dumps({'x': 'a' * 2_000_000})
        self.assertEqual(json.loads(self.ctl('call', 'probe', '-', text=text)[0]), json.loads(text))

    def test_json_is_what_the_service_said(self):
        self.approver()
        answer = self.json('call', 'probe', 'a=1')
        self.assertEqual(json.loads(answer['content'][0]['text']), {'a': 1})
        self.assertTrue(answer['call_id'])

    def test_AP_14_no_approver(self):
        # It ends by itself and not by a time-out: with none it would wait as long as it takes, and no card was ever open.
        opened = self.client.signals('Approvals', 'Opened')
        self.says('approve --watch', 'call', 'probe', status=UNANSWERED)
        self.assertEqual(opened, [])

    def test_denied(self):
        self.approver(lambda card: 'deny')
        self.says('codewhalectl why', 'call', 'probe', status=REFUSED)

    def test_unknown_tool_and_command(self):
        self.says('codewhalectl tools', 'call', 'nothing', status=NOT_FOUND)
        self.says('codewhalectl commands', 'run', 'nothing', status=NOT_FOUND)
        self.says('codewhalectl tools', 'tools', 'nothing', status=NOT_FOUND)

    def test_interrupted_call_is_cancelled(self):
        approver = self.approver(lambda card: None)
        process = begin(self.bus.address, 'call', 'probe')
        iterate_until(lambda: approver.cards, what='a card')
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, INTERRUPTED, err)
        self.assertEqual(approver.closed.wait()[1], 'withdrawn')

    def test_timeout_cancels_the_call(self):
        approver = self.approver(lambda card: None)
        self.says('Gave up waiting', '--timeout=0.5', 'call', 'probe', status=FAILURE)
        self.assertEqual(approver.closed.wait()[1], 'withdrawn')

    def test_session_of_its_own(self):
        self.approver()
        self.ctl('call', '--posture=never', 'probe', status=REFUSED)
        self.ctl('call', '--posture=ask', '--workspace=.', 'probe')
        self.ctl('call', '--posture=nonsense', 'probe', status=USAGE)

    def test_service_that_ends_during_a_call(self):
        approver = self.approver(lambda card: None)
        process = begin(self.bus.address, 'call', 'probe')
        iterate_until(lambda: approver.cards, what='a card')
        self.daemon.stop()
        _, err = process.communicate(timeout=20)
        self.assertNotEqual(process.returncode, OK, err)
        self.assertTrue(err)


class Failing(CliCase):
    def test_plugin_that_throws(self):
        self.bring_up('probe', tool_source("throw new Error('broken\\u001b[2J')"))
        self.approver()
        _, err = self.ctl('call', 'probe', status=PLUGIN_FAILED)
        self.assertIn('broken', err)
        self.assertNotIn('\x1b', err)

    def test_arguments_against_the_schema(self):
        self.bring_up('probe', tool_source("return 'x'", parameters='{ type: "object", properties: { n: { type: "integer" } } }'))
        self.says('codewhalectl tools probe', 'call', 'probe', 'n=x', status=USAGE)

    def test_strings_where_the_schema_says_so(self):
        self.bring_up('probe', tool_source(
            'return JSON.stringify(input)', parameters='{ type: "object", properties: { s: { type: "string" }, n: {} } }'))
        self.approver()
        self.assertEqual(json.loads(self.ctl('call', 'probe', 's=3', 'n=3')[0]), {'s': '3', 'n': 3})

    def test_unknown_names(self):
        for words in (('show', 'x'), ('review', 'x'), ('trust', 'x'), ('enable', 'x'), ('disable', 'x'), ('revoke', 'x'),
                      ('uninstall', 'x'), ('storage', 'list', 'x'), ('log', 'x')):
            with self.subTest(words=words):
                self.says('codewhalectl list', *words, status=NOT_FOUND)
        self.says('codewhalectl approve', 'approve', '999', status=NOT_FOUND)
        self.says('codewhalectl decisions', 'why', 'nothing', status=NOT_FOUND)
        self.says('codewhalectl grants', 'grants', 'revoke', '999', status=NOT_FOUND)

    def test_mistakes_on_the_command_line(self):
        for words, pattern in (
                (('lst',), 'Did you mean list?'),
                (('list', '--josn'), 'Did you mean --json?'),
                (('list', '--watch'), 'goes with: approve'),
                (('show',), 'show PLUGIN'),
                (('show', 'a', 'b'), 'takes no "b"'),
                (('approve', 'x'), 'is no card'),
                (('approve', '1', 'maybe'), 'allow or deny'),
                (('approve', '--watch'), 'needs a terminal'),
                (('storage', 'frob', 'x'), 'list, get, delete, repair or usage'),
                (('decisions', '--since=yesterday'), '10m, 2h or 3d'),
                (('decisions', '--limit=0'), 'whole number'),
                (('--color=sometimes', 'list'), 'auto, always or never'),
                (('--timeout=never', 'list'), 'number of seconds'),
                ((), '--help')):
            with self.subTest(words=words):
                self.says(re.escape(pattern), *words, status=USAGE)

    def test_no_service_and_no_bus(self):
        self.daemon.stop()
        self.says('systemctl --user start codewhale-extensions', 'list', status=UNREACHABLE)
        self.says('Cannot reach', 'list', '--address=unix:path=/nonexistent', status=UNREACHABLE)

    def test_help(self):
        out, _ = self.ctl('--help')
        for verb in ('install', 'approve', 'doctor'):
            self.assertIn(verb, out)
            self.assertIn(f'codewhalectl [OPTION...] {verb}', self.ctl(verb, '--help')[0])
        self.assertEqual(self.ctl('help')[0], out)
        self.assertRegex(self.ctl('--version')[0], r'^codewhalectl \d+\.\d+\.\d+$')


class Verbs(CliCase):
    """Every verb that only shows something, for people and as JSON, with the counter sample active and called once."""

    def setUp(self):
        super().setUp()
        self.plugin = self.client.bring_up(SAMPLES / 'counter')
        self.approver()
        self.call = self.client.tool('mod_counter', {'label': 'first'})['call_id']

    def test_status(self):
        self.assertEqual(self.json('status')['active'], 1)
        self.assertRegex(self.ctl('status')[0], r'(?m)^Version: +\d')

    def test_list(self):
        row = self.json('list')[0]
        self.assertEqual((row['id'], row['name'], row['version'], row['state']), (self.plugin, 'counter', '1.0.0', 'active'))
        self.assertRegex(self.ctl('list')[0], rf'(?m)^ID +NAME +VERSION +STATE\n{self.plugin} +counter +1\.0\.0 +active$')

    def test_show(self):
        self.assertEqual(self.json('show', 'counter')['plugin']['state'], 'active')
        self.assertIn('counter', self.ctl('show', 'counter')[0])

    def test_review(self):
        self.assertRegex(self.json('review', 'counter')['token'], r'^[0-9a-f]{64}\.[0-9a-f]{64}$')

    def test_tools(self):
        self.assertEqual([tool['name'] for tool in self.json('tools')], ['mod_counter'])
        self.assertIn('mod_counter', self.ctl('tools')[0])
        self.assertEqual(self.json('tools', 'mod_counter')['input_schema']['type'], 'object')
        self.assertIn('"increment"', self.ctl('tools', 'mod_counter')[0])

    def test_schema_check(self):
        """A schema is judged as the registration of a tool judges it, an instance as a call would; anything else is no "fine"."""
        files = {name: self.daemon.base / f'{name}.json' for name in ('schema', 'instance')}
        fine, label = '{"type":"object","properties":{"label":{"type":"string"}}}', '/label: expected string, found number 5 (type)'
        for schema, instance, status, words in (
                (fine, None, OK, 'The schema is fine'), (fine, '{"label":"x"}', OK, 'The instance fits'),
                (fine, '{"label":5}', USAGE, re.escape(label)), (fine, '{"a":1,"a":2}', USAGE, 'no strict JSON.*line 1'),
                (fine, '', USAGE, 'no strict JSON'), ('', None, USAGE, "can't be used"),
                ('{"type":"string"}', None, USAGE, "can't be used.*object"),
                ('{"type":"object","properties":{"a":{"type":"strng"}}}', '{}', USAGE, "can't be used.*/properties/a/type.*strng"),
                ('{"type":"object","$ref":"https://example.com/s.json"}', None, USAGE, "can't be used"),
                ('{"type":"object","title":"%s"}' % ('x' * 65536), None, USAGE, "can't be used.*65536")):
            with self.subTest(schema=schema[:60], instance=instance):
                files['schema'].write_text(schema)
                files['instance'].write_text(instance or '')
                asked = ('schema', 'check', str(files['schema']), *([] if instance is None else [str(files['instance'])]))
                out, _ = self.ctl(*asked, status=status)
                self.assertRegex(out, words)
                said = self.json(*asked, status=status)
                self.assertEqual(said['schema_ok'] and said.get('valid', True), status == OK)
        self.says('No such file', 'schema', 'check', str(self.daemon.base / 'none'), status=FAILURE)

    def test_commands(self):
        self.assertEqual([command['name'] for command in self.json('commands')], ['mod-count'])
        self.assertIn('mod-count', self.ctl('commands')[0])

    def test_run(self):
        self.assertEqual(self.json('run', 'mod-count')['text'], 'The counter is at 1.')

    def test_hooks(self):
        self.assertEqual([hook['event'] for hook in self.json('hooks')], ['tools/pre-execute'])
        self.assertIn('tools/pre-execute', self.ctl('hooks')[0])

    def test_prompt(self):
        text = self.json('prompt')['text']
        self.assertTrue(text)
        self.assertEqual(self.ctl('prompt')[0].rstrip('\n'), text.rstrip('\n'))

    def test_storage(self):
        keys = [row['key'] for row in self.json('storage', 'list', 'counter')]
        self.assertEqual(len(keys), 1)
        self.assertIn(keys[0], self.ctl('storage', 'list', 'counter')[0])
        value = self.json('storage', 'get', 'counter', keys[0])
        self.assertEqual(json.loads(self.ctl('storage', 'get', 'counter', keys[0])[0]), value)
        self.assertEqual(self.json('storage', 'usage', 'counter')['keys'], 1)
        self.assertEqual(self.json('storage', 'delete', 'counter', keys[0]), {'deleted': True})
        self.assertEqual(self.json('storage', 'delete', 'counter', keys[0], status=NOT_FOUND), {'deleted': False})
        self.says('codewhalectl storage list counter', 'storage', 'get', 'counter', keys[0], status=NOT_FOUND)

    def test_approvers(self):
        approver, = self.json('approvers')
        self.assertTrue(approver['program'].startswith('/'), approver)
        self.assertRegex(self.ctl('approvers')[0], rf"NAME +PROGRAM +UNIT +CALLS ITSELF\n{approver['name']} +{approver['program']} .* test\n")

    def test_sessions(self):
        self.client.call('Sessions', 'Open', '(a{sv})', {})
        sessions = self.json('sessions')
        self.assertTrue(all(session['posture'] for session in sessions))
        number = sessions[0]['path'].rsplit('/', 1)[1]
        self.assertRegex(self.ctl('sessions')[0], rf'SESSION +LABEL.*\ns{number} ')
        # However a session is written, its records are found.
        found = [self.json('decisions', f'--session={word}') for word in (f's{number}', number, sessions[0]['path'])]
        self.assertEqual(found, [found[0]] * 3)
        self.assertTrue(found[0])

    def test_why(self):
        record = self.json('why', self.call)
        self.assertEqual(record['tool'], 'mod_counter')
        out, _ = self.ctl('why', self.call)
        self.assertIn('mod_counter', out)
        self.assertIn('A person approved it.', out)
        # What became of it stands first; nothing is told twice; everything is told by somebody.
        self.assertEqual(out.split('\n')[0], f'call {self.call}: mod_counter of {self.plugin}: approved; it ended with: ok')
        self.assertEqual(out.count('Related'), 0)
        for words in ('unrecorded', 'unknown', record['time']):
            self.assertNotIn(str(words), out)
        for kind, words in (('card', 'Asked for by '), ('answer', 'Answered by '), ('call', 'Asked for by ')):
            [part] = [part for part in out.split('\n\n') if f' UTC: {kind} ' in part]
            self.assertIn(f'\n{words}', part)

    def test_decisions(self):
        records = self.json('decisions')
        self.assertTrue(any(record.get('call') == self.call for record in records))
        out, _ = self.ctl('decisions', '--plugin', self.plugin, '--since=1h')
        self.assertIn(self.call, out)
        self.assertNotRegex(out, '1970-')
        self.assertEqual(self.json('decisions', '--until=1d'), [])

    def test_doctor(self):
        done = run(self.bus.address, 'doctor', '--json')
        self.assertIn(done.returncode, (OK, FAILURE))
        checks = json.loads(done.stdout)['checks']
        failed = [check for check in checks if check['verdict'] == 'failed']
        self.assertEqual(done.returncode, FAILURE if failed else OK)
        shown = run(self.bus.address, 'doctor').stdout
        for check in checks:
            self.assertIn(check['name'], shown)
            for door in check.get('doors', ()):
                self.assertIn(door, shown)

    def test_reload(self):
        self.assertEqual(self.json('reload'), {})
        self.assertEqual(self.json('list')[0]['state'], 'active')

    def test_monitor(self):
        monitor = begin(self.bus.address, 'monitor', '--json')
        self.addCleanup(monitor.stdout.close)
        self.addCleanup(monitor.stderr.close)
        self.addCleanup(monitor.kill)
        # There is nothing to wait for until it prints, so that something is made to happen until it does.
        deadline = time.monotonic() + 20
        import select
        while not select.select([monitor.stdout], [], [], 0.2)[0]:
            self.assertLess(time.monotonic(), deadline)
            self.client.plugin('Disable', self.plugin)
            self.client.plugin('Enable', self.plugin)
        event = json.loads(monitor.stdout.readline())
        self.assertTrue(event['interface'].startswith('org.'))
        self.assertIn('signal', event)
        self.assertIsInstance(event['arguments'], list)
        monitor.terminate()
        self.assertEqual(monitor.wait(20), OK)

    @unittest.skipUnless(os.path.exists('/run/private-systemd'), 'the journal of a desktop is left alone')
    def test_log(self):
        """Finds the units of all starts of the host; a name with a dash is one that systemd escapes."""
        plugin = self.bring_up('with-dash', tool_source("return 'x'", name='other', more="""
            console.error('written by the plugin')
            ctx.logger('with-dash').info('said by its logger')"""))
        for name in ('with-dash', plugin):
            deadline = time.monotonic() + 20
            while not all(text in (shown := run(self.bus.address, 'log', name, '--no-pager', '-n', '50')).stdout
                          for text in ('written by the plugin', 'said by its logger')):
                self.assertLess(time.monotonic(), deadline, shown.stdout + shown.stderr)
        line = run(self.bus.address, 'log', name, '--json', '-n', '1').stdout.splitlines()[0]
        self.assertIn('MESSAGE', json.loads(line))

    def test_json_has_no_colours(self):
        self.assertNotIn('\x1b', self.ctl('--json', '--color=always', 'list')[0])
        self.assertIn('\x1b[', self.ctl('--color=always', 'list')[0])
        self.assertNotIn('\x1b', self.ctl('list')[0])

    def test_reader_that_leaves(self):
        """A pipe that closes early is no reason for noise."""
        process = begin(self.bus.address, 'show', 'counter')
        process.stdout.close()
        self.assertEqual(process.stderr.read(), '')
        process.stderr.close()
        process.wait(20)


class Cards(CliCase):
    """approve in one shot, from scripts and second terminals; see test_watch.py for --watch."""

    def setUp(self):
        super().setUp()
        self.bring_up('probe', tool_source("return 'done'"))
        self.watching = self.approver(lambda card: None)
        self.pending = self.client.start_tool('probe', '{"a": "\u202e"}')
        iterate_until(lambda: self.watching.cards, what='a card')
        self.card = str(self.watching.cards[0]['id'])

    def test_show(self):
        self.assertEqual([card['id'] for card in self.json('approve')], [int(self.card)])
        self.assertIn('probe', self.ctl('approve')[0])
        out, err = self.ctl('approve', self.card)
        self.assertIn('\\u{202e}', out)
        self.assertNotIn('\u202e', out)
        self.assertIn(self.watching.cards[0]['digest'], err)
        self.assertEqual(self.json('approve', self.card)['digest'], self.watching.cards[0]['digest'])

    def test_allow(self):
        self.ctl('approve', self.card, 'allow')
        self.assertIn('done', self.pending.result())
        self.assertEqual(self.json('approve'), [])

    def test_deny(self):
        self.ctl('approve', self.card, 'deny')
        self.assertFails('Denied', self.pending.result)

    def test_AP_04_late_answer(self):
        self.ctl('approve', self.card, 'allow')
        self.pending.result()
        done = run(self.bus.address, 'approve', self.card, 'deny')
        self.assertIn(done.returncode, (NOT_FOUND, WRONG_STATE), done.stderr)

    def test_digest(self):
        self.says('codewhalectl approve', 'approve', self.card, 'allow', '--digest=' + '0' * 64, status=WRONG_STATE)
        self.ctl('approve', self.card, 'allow', '--digest', self.watching.cards[0]['digest'])
        self.assertIn('done', self.pending.result())

    def test_scope_that_is_not_offered(self):
        self.ctl('approve', self.card, 'allow', '--scope=for-ever', status=USAGE)
        self.assertEqual(len(self.json('approve')), 1)

    def test_grants(self):
        self.assertEqual(self.json('grants'), [])
        self.ctl('approve', self.card, 'allow', '--scope=session')
        self.pending.result()
        grant = self.json('grants')[0]
        self.assertEqual(grant['tool'], 'probe')
        self.assertIn('done', self.client.start_tool('probe', '{"a": "\u202e"}').result(), 'the grant holds')
        self.assertIn('probe', self.ctl('grants')[0])
        self.ctl('grants', 'revoke', grant['id'])
        self.assertEqual(self.json('grants'), [])
