# SPDX-License-Identifier: MIT
"""What the service reads for a plugin: never what a plugin put into its own folder, and never through a link or from something that is
no file. The control is a genuine record (test_links_genuine_record_is_read)."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'integration'))

from codewhale import ServiceCase  # noqa: E402

SOURCE = '''
import fs from 'node:fs'
export const inject = ['tools', 'storage']
export function apply(ctx) {
  ctx.tools.register({ name: 'keep', description: 'Keeps.', parameters: { type: 'object' }, async execute({ set, get, write }) {
    if (set) return void await ctx.storage.set(set, 'genuine') ?? 'set'
    if (write) {
      for (const [path, text] of Object.entries(write)) {
        fs.mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true })
        fs.writeFileSync(path, text)
      }
      return 'written'
    }
    try {
      return { value: await ctx.storage.get(get) ?? null }
    } catch (error) {
      return { code: error.code }
    }
  } })
}
'''


def name_of(key):
    return hashlib.sha256(key.encode()).hexdigest() + '.json'


class Links(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()
        self.client.bring_up(self.bundle('keeper', SOURCE))
        self.client.tool('keep', {'set': 'key'})
        self.records = next(self.daemon.home.glob('extensions/data/keeper-*/storage-v1'))
        self.record = self.records / name_of('key')
        self.secret = self.daemon.base / 'secret'
        self.secret.write_text(json.dumps({'version': 1, 'key': 'key', 'value': 'the secret'}) + '\n')

    def get(self, key='key'):
        return self.client.tool('keep', {'get': key})['structured']

    def assertRefused(self):
        found = self.get()
        self.assertIn(found.get('code'), ('corrupt', 'io', 'invalid'), found)
        self.assertTrue(self.client.property('', 'Version'))

    def test_links_genuine_record_is_read(self):
        self.assertEqual(self.get(), {'value': 'genuine'})

    def test_links_record_in_its_own_folder_is_not_read(self):
        text = json.dumps({'version': 1, 'key': 'other', 'value': 'forged'}) + '\n'
        for place in ('/data/storage-v1/', '/data/', '/tmp/storage-v1/'):
            self.client.tool('keep', {'write': {place + name_of('other'): text}})
        self.assertEqual(self.get('other'), {'value': None})
        self.assertEqual([row[0] for row in self.client.call('Storage', 'List', '(s)', 'keeper')], ['key'])

    def test_links_record_that_is_a_link(self):
        self.record.unlink()
        self.record.symlink_to(self.secret)
        self.assertRefused()

    def test_links_record_that_has_a_second_name(self):
        self.record.unlink()
        os.link(self.secret, self.record)
        self.assertRefused()

    def test_links_record_that_is_a_pipe(self):
        self.record.unlink()
        os.mkfifo(self.record)
        self.assertRefused()

    def test_links_record_that_is_a_folder(self):
        self.record.unlink()
        self.record.mkdir()
        self.assertRefused()

    def test_links_record_that_is_huge(self):
        os.truncate(self.record, 1 << 40)
        self.assertRefused()


class Score(ServiceCase):
    """What systemd itself thinks of the walls of a host that runs. What is left beside the JIT's writable code: 0.4 for a User= that a user
    manager can't have and does not need (systemd takes the user for root), a /tmp that is an empty file system by other means than the
    one that is counted, and the clock that ProtectClock= lets everybody read."""
    most = 0.7

    def test_walls_are_rated(self):
        self.approver()
        self.client.bring_up(self.bundle('keeper', SOURCE))
        self.client.tool('keep', {'get': 'key'})
        unit = self.client.property('Plugin', 'Unit', path=self.client.plugins()['keeper'][1])
        shown = subprocess.run(['systemd-analyze', '--user', 'security', '--no-pager', unit], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, check=False).stdout
        exposure = re.search(r'exposure level .*: ([0-9.]+)', shown)
        self.assertTrue(exposure, shown)
        print(f'# systemd rates the running host {exposure[1]}, the most is {self.most}', flush=True)
        self.assertLessEqual(float(exposure[1]), self.most, shown)
