# SPDX-License-Identifier: MIT
"""The three places in which a way out is tried: a plain process, a walled unit without a lock, a plugin."""

import functools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from codewhale import Client, Daemon, PrivateBus, Units, build_folder, is_error, write_bundle
from codewhale.bus import BusError
from codewhale.daemon import CONFIG
from codewhale.people import Approver
from world import World, read_rows

HERE = Path(__file__).resolve().parent


def runtimes():
    """Programs to try with: CODEWHALE_TEST_RUNTIMES, paths with colons between, or the one that all live tests use."""
    given = os.environ.get('CODEWHALE_TEST_RUNTIMES') or os.environ.get('CODEWHALE_TEST_NODE') or shutil.which('node') or ''
    return [path for path in given.split(':') if path]


@functools.cache
def describe_runtime(path):
    """('node', '24.22.3')"""
    version = subprocess.run([path, '--version'], stdout=subprocess.PIPE, text=True, check=False, env={}).stdout.strip()
    return ('node' if version.startswith('v') else 'bun'), version.lstrip('v')


@functools.cache
def ways():
    """Every way out, as ways/index.mjs has it."""
    program = next(iter(runtimes()), None)
    if not program:
        return []
    shown = subprocess.run([program, str(HERE / 'plain.mjs'), '--list'], stdout=subprocess.PIPE, text=True, check=True, env={})
    return json.loads(shown.stdout)


def bundle_files():
    """path -> bytes of the bundle that tries: its code, and native code in two forms."""
    files = {f'native/ways/{path.name}': path.read_bytes() for path in (HERE / 'ways').glob('*.mjs')}
    files['native/escape.mjs'] = (HERE / 'escape.mjs').read_bytes()
    files['native/wrapped.cjs'] = 'module.exports = "reviewed"\n'
    built = build_folder() / 'tests' / 'escape'
    files['native/door.node'] = (built / 'escape-door.so').read_bytes()
    files['native/door-program'] = (built / 'escape-door-program').read_bytes()
    return files


class Plain:
    """A plain process of the user: what is refused here proves nothing."""

    def __init__(self, runtime, folder, world):
        self.runtime, self.folder, self.world = runtime, folder, world
        self.bundle = write_bundle(folder, 'control', files=bundle_files())
        (self.bundle / 'native' / 'door-program').chmod(0o755)

    def attempt(self, way):
        name, data = way['name'], Path(tempfile.mkdtemp(dir=self.folder))
        world = {**self.world, 'bundle': str(self.bundle), 'data': str(data)}
        environment = {**os.environ, 'ESCAPE_SECRET': self.world['secret'], 'NODE_OPTIONS': ''}
        done = subprocess.run([self.runtime, '--no-warnings', str(HERE / 'plain.mjs'), name], input=json.dumps(world), text=True, cwd=data,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=60, check=False)
        return json.loads(done.stdout) if done.stdout else {'name': name, 'out': False, 'excuse': way['excuse'], 'reason': f'ended: {done.stderr[-500:]}'}


class Walled:
    """The unit of a plugin with an unlocked runtime inside."""

    def __init__(self, runtime, folder, world):
        self.runtime, self.folder, self.world = runtime, folder, world
        self.plugin = write_bundle(folder, 'walled', files=bundle_files())
        (self.plugin / 'native' / 'door-program').chmod(0o755)

    def attempt_all(self, names):
        """name -> what came of it. A way that ends the process is tried, and the rest in another unit."""
        found, left = {}, list(names)
        while left:
            rows = self._run(left)
            found.update({row['name']: row for row in rows if 'out' in row})
            tried = [row['name'] for row in rows if row.get('begun')]
            if not tried:
                raise RuntimeError(f'nothing was tried: {self.said}')
            if tried[-1] not in found:
                found[tried[-1]] = {'name': tried[-1], 'out': False, 'code': 'ENDED', 'reason': f'it ended its own process: {self.said}'}
            left = left[len(tried):]
        return found

    def _run(self, names):
        data = Path(tempfile.mkdtemp(dir=self.folder))
        world = {**self.world, 'bundle': '/plugin', 'data': '/data'}
        (data / 'world.json').write_text(json.dumps({'world': world, 'names': names}))
        done = subprocess.run([str(build_folder() / 'tests' / 'escape' / 'escape-walled'), self.runtime, str(HERE / 'walled.mjs'),
                               str(self.plugin), str(data)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        self.said, self.status = done.stdout[-2000:], done.returncode
        return read_rows(data / 'results')


class Plugin:
    """The real thing: a plugin of the real service, one that is reviewed, trusted and called."""

    def __init__(self, runtime):
        self.units = Units()
        self.bus = PrivateBus()
        kind, _ = describe_runtime(runtime)
        more = f'[extension_host]\nruntime = "{kind}"\n{kind} = "{runtime}"\n'
        self.daemon = Daemon(self.bus.address, CONFIG + more)
        self.daemon.start()
        self.client = Client(self.bus.address)
        self.approver = Approver(self.bus.address)
        self.sources = self.daemon.base / 'sources'
        self.world = None

    def bring_up(self):
        self.plugin = self.client.bring_up(write_bundle(self.sources, 'escape', files=bundle_files(), native={'paths': ['native/escape.mjs']}))

    def facts(self, name='escape'):
        return self.client.properties('Plugin', path=self.client.plugins()[name][1])

    def set_world(self, world):
        self.world = {**world, 'bundle': '/plugin', 'data': '/data'}

    def attempt(self, name):
        try:
            return self.client.tool('escape_try', {'name': name, 'world': self.world}, seconds=60)['structured']
        except BusError as error:
            # "Cancelled": an error outside of the call, which Node 26 makes of a refused socket, faults the entry.
            if not any(is_error(error, name) for name in ('HostUnavailable', 'ExecutionFailed', 'Cancelled')):
                raise
            self.client.call('', 'Reload')  # a host that ended itself is no crash to give up on
            self.prove_alive()
            return {'name': name, 'out': False, 'code': error.name, 'reason': error.message}

    def prove_alive(self):
        """Where nothing runs nothing gets out, which proves nothing."""
        found = self.client.tool('escape_try', {'name': 'home-list', 'world': self.world}, seconds=60)['structured']
        assert not found['out'], found

    def stop_host(self):
        self.client.plugin('Disable', self.plugin)
        left = self.units.wait_until_gone()
        self.client.plugin('Enable', self.plugin)
        return left

    def close(self):
        self.client.close()
        self.approver.close()
        try:
            self.daemon.stop()
            return self.units.wait_until_gone()
        finally:
            self.daemon.remove()
            self.bus.close()


OTHER = '''
import fs from 'node:fs'
export const inject = ['tools', 'storage']
export function apply(ctx) {
  ctx.tools.register({ name: 'other_keep', description: 'Keeps a secret.', parameters: { type: 'object' }, async execute({ secret }) {
    fs.writeFileSync('/data/secret', secret)
    await ctx.storage.set('secret', secret)
    return 'kept'
  } })
}
'''


class Scene:
    """The world and the three places for one runtime. Bun runs no plugin: there the plugin, whose data is to be reached, runs on Node."""

    def __init__(self, runtime):
        self.runtime = runtime
        self.runs_plugins = describe_runtime(runtime)[0] == 'node'
        if not self.runs_plugins:
            runtime = os.environ['CODEWHALE_TEST_NODE']
        self.world = World()
        os.environ.setdefault('ESCAPE_SECRET', '')
        before = os.environ['ESCAPE_SECRET']
        os.environ['ESCAPE_SECRET'] = self.world.secret  # the service has it in its environment
        try:
            self.plugin = Plugin(runtime)
        finally:
            os.environ['ESCAPE_SECRET'] = before
        self.plugin.bring_up()
        self.other = self.plugin.client.bring_up(write_bundle(self.plugin.sources, 'other', OTHER))
        self.plugin.client.tool('other_keep', {'secret': self.world.secret})
        self.described = self._describe()
        self.plugin.set_world(self.described)
        self.plugin.attempt('home-list')  # so that its host runs before the last secret is made
        self.world.add_later_secret()
        self.folder = self.world.home / 'places'
        self.folder.mkdir()
        self.plain = Plain(self.runtime, self.folder, self.described)
        self.walled = Walled(self.runtime, self.folder, self.described)

    def _describe(self):
        daemon = self.plugin.daemon
        data = {folder.name.rsplit('-', 1)[0]: folder for folder in (daemon.home / 'extensions' / 'data').iterdir()}
        with (daemon.home / 'config.toml').open('a') as file:
            file.write(f'# {self.world.secret}\n')
        service = {'pid': daemon.process.pid, 'home': str(daemon.home), 'config': str(daemon.home / 'config.toml'),
                   'state': str(daemon.home / 'plugins' / 'state.json'), 'decisions': str(daemon.home / 'extensions' / 'decisions'),
                   'bus': self.plugin.bus.address.partition('path=')[2].partition(',')[0]}
        other = {'folder': str(data['other'] / 'files'), 'file': str(data['other'] / 'files' / 'secret'),
                 'records': str(data['other'] / 'storage-v1'), 'sealed': str(daemon.home / 'extensions' / 'staged')}
        return self.world.describe(service, other, {'records': str(data['escape'] / 'storage-v1'), 'sealed': str(daemon.home / 'extensions' / 'staged')})

    def close(self):
        left = self.plugin.close()
        self.world.close()
        return left
