# SPDX-License-Identifier: MIT
"""Extensions that use their memory or their tasks up, where the limits are enforced: in the system manager. The service ends or holds
them by that limit, says whose fault it is and why, and serves the others."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'integration'))

from codewhale import ServiceCase, Units, iterate_until, tool_source  # noqa: E402
from codewhale.daemon import CONFIG  # noqa: E402

MEMORY_MIB, TASKS = 256, 40
# A host can't make a process, which other tests show: so its runtime is a script that does, as soon as it is told to.
FORKING = '''#!/usr/bin/sh
[ "$1" = --version ] && exec {node} --version
(until [ -e /data/now ]; do sleep 0.05; done; while :; do sleep 600 & done) <&- >&- 2>&- &
exec {node} "$@"
'''
MESSAGES = Path(__file__).resolve().parents[2] / 'common' / 'messages.h'


def message_id(name):
    return next(line.split('"')[1] for line in MESSAGES.read_text().splitlines() if line.startswith(f'#define {name} '))


class CulpritCase(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()
        self.other = self.client.bring_up(self.bundle('other', tool_source("return 'alive'", name='other')))

    def prepare(self):
        self.units = Units('--system')
        self.daemon.options = ['--manager=system', '--host-user=nobody', '--log-target=journal']

    def path(self, name):
        return self.client.plugins()[name][1]

    def facts(self, name='probe'):
        return self.client.properties('Plugin', path=self.path(name))

    def said(self, name='probe'):
        return ' '.join(self.client.property('Plugin', 'Diagnostics', self.path(name)))

    def limit(self, name):
        return json.loads(self.client.property('Plugin', 'Limits', self.path('other')))[name]

    def journal(self, message):
        """What the journal has about one of the messages: (extension, text)."""
        shown = subprocess.run(['journalctl', '--no-pager', '-o', 'json', f'MESSAGE_ID={message_id(message)}'], stdout=subprocess.PIPE, text=True,
                               check=True).stdout
        return [(row['CODEWHALE_PLUGIN'], row['MESSAGE']) for row in map(json.loads, shown.splitlines())]

    def assertOthersGoOn(self):
        self.assertEqual(self.client.tool('other', seconds=60)['content'][0]['text'], 'alive')
        self.assertEqual((self.said('other'), self.facts('other')['Failure']), ('', ''))


class Memory(CulpritCase):
    config = CONFIG + f'[extension_host]\nmemory_mib = {MEMORY_MIB}\n' + f'node = "{os.environ.get("CODEWHALE_TEST_NODE")}"\n'

    def test_SY_11_memory_that_is_used_up_is_named_everywhere(self):
        self.assertEqual(self.limit('memory'), {'configured': MEMORY_MIB << 20, 'effective': MEMORY_MIB << 20, 'enforced': True})
        plugin = self.client.bring_up(self.bundle('probe', tool_source(
            # What lies in /tmp counts, and no limit of the process stops it before the one of the control group does.
            "(await import('node:fs')).writeFileSync('/tmp/much', Buffer.alloc(60 << 20, 1)); const kept = [];"
            'for (;;) { kept.push(Buffer.alloc(1 << 22, 1)); await new Promise((done) => setImmediate(done)) }')))
        cause = f'killed for exceeding its memory limit of {MEMORY_MIB} MiB'
        for crashes in (1, 2, 3):
            error = self.assertFails('HostUnavailable', self.client.tool, 'probe', seconds=100)
            iterate_until(lambda: self.said(), 30, 'a cause')
            self.assertIn(cause, self.said())
            if crashes < 3:
                iterate_until(lambda: self.facts()['HostState'] == 'ready', 30, 'the next run')
            self.assertTrue(error.message)
            self.assertOthersGoOn()
        # The third is the last; its reason is the same in the property, in a call's error and in the journal.
        iterate_until(lambda: self.facts()['HostState'] == 'failed', 30, 'giving up')
        failure = self.facts()['Failure']
        self.assertIn(cause, failure)
        self.assertIn('crashed 3 times', failure)
        self.assertIn(failure, self.assertFails('HostUnavailable', self.client.tool, 'probe').message)
        iterate_until(lambda: len(self.journal('MESSAGE_PLUGIN_CRASHED')) == 2 and self.journal('MESSAGE_PLUGIN_LEFT_ALONE'), 30, 'the journal')
        for extension, text in self.journal('MESSAGE_PLUGIN_CRASHED') + self.journal('MESSAGE_PLUGIN_LEFT_ALONE'):
            self.assertEqual(extension, plugin)
            self.assertIn(cause, text)
        self.assertOthersGoOn()


class Tasks(CulpritCase):
    config = CONFIG + f'[extension_host]\ntasks = {TASKS}\nnode = "/usr/local/bin/forking"\n'

    def prepare(self):
        super().prepare()
        node, script = Path('/usr/local/bin/plain-node'), Path('/usr/local/bin/forking')  # of the throw-away system
        if not node.exists():
            shutil.copy(os.environ['CODEWHALE_TEST_NODE'], node)
        script.write_text(FORKING.format(node=node))
        script.chmod(0o755)

    def test_SY_12_fork_bomb_is_held_and_named(self):
        self.assertEqual(self.limit('tasks'), {'configured': TASKS, 'effective': TASKS, 'enforced': True})
        plugin = self.client.bring_up(self.bundle('probe', tool_source(
            "(await import('node:fs')).writeFileSync('/data/now', ''); return 'alive'")))
        self.client.tool('probe', seconds=60)
        iterate_until(lambda: self.facts()['TasksCurrent'] == TASKS, 30, 'the limit')
        cause = f'ran into its limit of {TASKS} tasks'
        iterate_until(lambda: cause in self.said(), 30, 'the cause')
        iterate_until(lambda: self.journal('MESSAGE_PLUGIN_LIMIT'), 30, 'the journal')
        [(extension, text)] = self.journal('MESSAGE_PLUGIN_LIMIT')
        self.assertEqual(extension, plugin)
        self.assertIn(cause, text)
        # It is usable, others are, and when it ends that is a part of the reason.
        self.assertEqual(self.client.tool('probe', seconds=60)['content'][0]['text'], 'alive')
        self.assertOthersGoOn()
        unit = self.facts()['Unit']
        subprocess.run(['systemctl', 'kill', '--signal=KILL', '--kill-who=main', unit], check=True)
        iterate_until(lambda: f'it had {cause.replace("ran", "run")}' in self.said(), 30, 'the reason of the end')
        # No process outlives its unit, or the extension that was switched off.
        self.client.plugin('Disable', plugin, seconds=60)
        self.assertEqual(self.facts()['HostState'], 'disabled')
        iterate_until(lambda: len(self.units.names()) == 1, 30, 'the end of its units')
        self.assertOthersGoOn()


del CulpritCase, ServiceCase
