# SPDX-License-Identifier: MIT
"""Extensions that misbehave: each ends in a typed error for its caller, no unit, no process, and a service that goes on."""

import contextlib
import json
import os
import signal

from codewhale import BLOCK_FOREVER, ServiceCase, iterate_until, tool_source


class Misbehaviour(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()

    def bring_up(self, body, name='probe', **more):
        return self.client.bring_up(self.bundle(name, tool_source(body, name=name, **more)))

    def facts(self, name='probe'):
        return self.client.properties('Plugin', path=self.client.plugins()[name][1])

    def describe(self, name='probe'):
        return json.loads(self.client.call('Plugin', 'Describe', path=self.client.plugins()[name][1]))['host']

    def host_of(self, name='probe'):
        iterate_until(lambda: self.facts(name)['Unit'] and self.units.processes(self.facts(name)['Unit']), what='the host')
        return self.units.processes(self.facts(name)['Unit'])

    def wait_until_it_runs(self):
        iterate_until(lambda: 'it runs' in self.daemon.log(), what='the call to reach the tool')

    def assertOthersGoOn(self):
        self.bring_up("return 'alive'", name='other')
        self.assertEqual(self.client.tool('other')['content'][0]['text'], 'alive')

    def fails(self, call):
        """The short name of the error that a call ends with."""
        with self.assertRaises(Exception) as caught:
            call.result(60)
        self.assertTrue(caught.exception.name.startswith('org.codewhale.Extensions.Error.'), caught.exception)
        self.assertNotRegex(caught.exception.message, r'\.\.$|^\W*$')
        return caught.exception.name.rsplit('.', 1)[1]

    def test_L03_exit_fails_the_call(self):
        self.bring_up('process.exit(3)')
        self.assertIn(self.fails(self.client.start_tool('probe')), ('ExecutionFailed', 'HostUnavailable'))
        self.assertOthersGoOn()

    def test_S01_killed_during_a_call(self):
        self.bring_up('ctx.logger.warn("it runs"); await new Promise(() => {})')
        unit = self.facts()['Unit']
        call = self.client.start_tool('probe')
        self.wait_until_it_runs()
        host = self.host_of()
        for pid in host:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.fails(call), 'HostUnavailable')
        # It comes back by itself, once, as another activation with the same tool.
        iterate_until(lambda: self.client.tools() == ['probe'] and self.facts()['HostState'] == 'ready', what='the host')
        self.assertNotIn(self.facts()['Unit'], ('', unit))
        self.assertEqual(self.describe()['crashes'], 1)
        self.assertOthersGoOn()

    def test_S02_crash_loop_stops_and_reload_clears_it(self):
        self.bring_up("if (input.die) process.kill(process.pid, 'SIGKILL'); return 'alive'")

        def given_up():
            for unit in self.units.names():
                for pid in self.units.processes(unit) if 'probe' in unit else ():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            return self.facts()['HostState'] == 'failed'

        iterate_until(given_up, 60, 'giving up')
        self.assertTrue(self.facts()['Failure'])
        self.assertOthersGoOn()
        # Somebody new is no reason to try again.
        self.connect().call('Sessions', 'Open', '(a{sv})', {})
        self.assertEqual((self.facts()['HostState'], self.facts()['Unit']), ('failed', ''))
        self.client.call('', 'Reload')
        self.client.wait_for_tools('other', 'probe')
        self.assertEqual(self.client.tool('probe', seconds=30)['content'][0]['text'], 'alive')

    def test_S15_tool_of_a_host_that_is_down_says_so(self):
        self.bring_up("return 'alive'")

        def given_up():
            for pid in self.units.all_processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return self.facts()['HostState'] == 'failed'

        iterate_until(given_up, 60, 'giving up')
        error = self.assertFails('HostUnavailable', self.client.tool, 'probe')
        self.assertIn(self.facts()['Failure'], error.message)

    def test_S06_loop_is_stopped_from_outside(self):
        self.bring_up(f'if (input.loop) {{ {BLOCK_FOREVER} }} return "alive"')
        call = self.client.start_tool('probe', {'loop': True}, seconds=60)
        self.assertIn(self.fails(call), ('HostUnavailable', 'DeadlineExceeded'))
        self.client.wait_for_tools('probe')
        self.assertEqual(self.client.tool('probe', seconds=60)['content'][0]['text'], 'alive')
        self.assertEqual(self.describe()['crashes'], 1)

    def test_S08_deadline(self):
        self.bring_up('''await new Promise((done) => setTimeout(done, input.wait ?? 0)); return "late"''')
        self.assertEqual(self.fails(self.client.start_tool('probe', {'wait': 60000}, deadline_ms=_u(300))), 'DeadlineExceeded')
        # The host stayed and serves the next call.
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'late')

    def test_cancel_that_is_ignored(self):
        self.bring_up('ctx.logger.warn("it runs"); await new Promise((done) => setTimeout(done, 60000)); return "never"')
        session = self.client.unique_name.lstrip(':').replace('.', '_')
        path = f'/org/codewhale/Extensions/request/{session}/t'
        from codewhale import options
        responses = self.client.signals('Request', 'Response', path)
        self.client.call('Tools', 'Start', '(ssa{sv})', 'probe', '{}', options(handle_token='t'))
        self.wait_until_it_runs()
        self.client.call('Request', 'Close', path=path)
        self.assertEqual(responses.wait()[0], 2)

    def test_O15_cancel_reaches_the_signal(self):
        self.bring_up('''
            if (input.ask) return { aborted: globalThis.aborted ?? false }
            await new Promise((done) => exec.signal.addEventListener("abort", () => { globalThis.aborted = true; done() }))
            return "cancelled"''')
        self.assertEqual(self.fails(self.client.start_tool('probe', deadline_ms=_u(500))), 'DeadlineExceeded')
        self.assertTrue(self.client.tool('probe', {'ask': True})['structured']['aborted'])

    def test_F06_output_does_not_reach_the_channel(self):
        self.bring_up('''process.stdout.write("CWX1garbage\\n"); console.log("more"); return "fine"''')
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'fine')

    def test_F01_garbage_on_the_channel_ends_the_host(self):
        self.bring_up('''
            const fs = await import("node:fs")
            fs.writeSync(1, "this is no frame at all, and long enough to be read as one"); await new Promise(() => {})''')
        self.assertIn(self.fails(self.client.start_tool('probe', seconds=60)), ('HostUnavailable', 'ExecutionFailed'))
        self.assertOthersGoOn()

    def test_A07_missing_service_is_named(self):
        plugin = self.client.install(self.bundle('probe', "export const inject = ['teapot']\nexport function apply() {}"))['id']
        self.client.trust(plugin)
        with self.assertRaises(Exception) as caught:
            self.client.plugin('Enable', plugin)
        self.assertIn('teapot', caught.exception.message)

    def test_A12_activation_that_never_ends(self):
        plugin = self.client.install(self.bundle('probe', 'export async function apply() { await new Promise(() => {}) }'))['id']
        self.client.trust(plugin)
        with self.assertRaises(Exception) as caught:
            self.client.plugin('Enable', plugin, seconds=30)
        self.assertTrue(caught.exception.name.startswith('org.codewhale.Extensions.Error.'))

    def test_A08_tool_named_like_a_core_one(self):
        plugin = self.client.install(self.bundle('probe', tool_source("return 'x'", name='read_file')))['id']
        self.client.trust(plugin)
        with self.assertRaises(Exception) as caught:
            self.client.plugin('Enable', plugin)
        self.assertIn('read_file', caught.exception.message)
        self.assertEqual(self.client.tools(), [])

    def test_O05_schema_that_is_none(self):
        for name, parameters, reason in (
                ('array', '{ type: "array" }', 'the root must say "type": "object"'),
                ('wrong', '{ type: "object", properties: 7 }', '/properties'),
                ('large', '{ type: "object", title: "x".repeat(65536) }', 'at most 65536'),
                ('remote', '{ type: "object", properties: { a: { $ref: "https://example.com/x.json" } } }', 'example.com')):
            with self.subTest(schema=name):
                plugin = self.client.install(self.bundle(name, tool_source("return 'x'", name=f'tool_{name}', parameters=parameters)))['id']
                self.client.trust(plugin)
                with self.assertRaises(Exception) as caught:
                    self.client.plugin('Enable', plugin)
                self.assertIn(f'tool_{name}', caught.exception.message)
                self.assertIn(reason, caught.exception.message)
        self.assertEqual(self.client.tools(), [])

    def test_SC_01_bad_schema_beside_a_good_one(self):
        """Of what an active entry registers later, only the bad tool is refused. (While it activates, contract A10 rolls back the entry.)"""
        self.approver()
        register = "ctx.tools.register({ name: '%s', description: 'd', parameters: { type: '%s' }, async execute() { return 'x' } })"
        self.client.bring_up(self.bundle('probe', tool_source(
            f"{register % ('bad', 'string')}; {register % ('good', 'object')}; return 'registered'")))
        self.client.tool('probe', {})
        self.client.wait_for_tools('probe', 'good')
        self.assertFalse(self.client.tool('good', {})['is_error'])


class Walls(ServiceCase):
    """What code in a plugin can reach: nothing of the user's. Tried from inside, with the runtime's own means."""

    def setUp(self):
        super().setUp()
        self.approver()
        self.plugin = self.client.bring_up(self.bundle('probe', tool_source('''
            const tries = {}
            const attempt = async (name, what) => { try { tries[name] = String(await what()).slice(0, 200) } catch (error) { tries[name] = "refused: " + (error.code ?? error.message) } }
            const fs = await import("node:fs"), net = await import("node:net")
            const connect = (options) => new Promise((done, fail) => { const socket = net.connect(options); socket.on("connect", () => done("connected")); socket.on("error", fail) })
            await attempt("home", () => fs.readdirSync(input.home))
            await attempt("passwd", () => fs.readFileSync("/etc/passwd", "utf8"))
            await attempt("run", () => fs.readdirSync("/run"))
            await attempt("write", () => fs.writeFileSync("/usr/codewhale-was-here", "x"))
            await attempt("write_plugin", () => fs.writeFileSync("/plugin/codewhale-was-here", "x"))
            await attempt("state", () => fs.readdirSync(input.state))
            await attempt("bus", () => connect({ path: input.bus }))
            await attempt("manager", () => connect({ path: input.manager }))
            await attempt("tcp", () => connect({ host: "127.0.0.1", port: 9 }))
            await attempt("fetch", () => fetch("http://127.0.0.1:9/"))
            await attempt("processes", () => fs.readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).length > 3 ? "sees others" : "refused: alone")
            await attempt("child", async () => (await import("node:child_process")).execFileSync("/bin/true"))
            return { tries, environment: Object.keys(process.env) }''')))

    def test_B01_nothing_can_be_reached(self):
        runtime = os.environ.get('XDG_RUNTIME_DIR', '/run/user/0')
        result = self.client.tool('probe', {
            'home': os.path.expanduser('~'), 'state': str(self.daemon.home), 'bus': self.bus.address.split('path=')[1].split(',')[0],
            'manager': f'{runtime}/systemd/private'})['structured']
        reached = {name: got for name, got in result['tries'].items() if not got.startswith('refused: ')}
        self.assertEqual(reached, {})

    def test_H06_environment_is_an_allow_list(self):
        names = set(self.client.tool('probe', {'home': '/', 'state': '/', 'bus': '/x', 'manager': '/x'})['structured']['environment'])
        self.assertFalse(names & {'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', 'SSH_AUTH_SOCK', 'CODEWHALE_BUILD', 'PYTHONUNBUFFERED'}, names)

    def test_report_from_inside_is_shown(self):
        self.client.tool('probe', {'home': '/', 'state': '/', 'bus': '/x', 'manager': '/x'})
        lock = json.loads(self.client.property('Plugin', 'Lock', path=self.client.plugins()['probe'][1]))
        self.assertIn('process.dlopen', lock['doors'])
        self.assertEqual(lock['runtime'], 'node')
        report = json.loads(self.client.property('Plugin', 'Sandbox', path=self.client.plugins()['probe'][1]))
        self.assertTrue(report)
        self.assertIn('checks', str(report))


def _u(number):
    from gi.repository import GLib
    return GLib.Variant('u', number)
