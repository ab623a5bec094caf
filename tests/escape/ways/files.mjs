// SPDX-License-Identifier: MIT
//
// Files that are not the plugin's: reading, writing, and links that others would follow.
import fs from 'node:fs'
import { execute, must, plant, python, steal } from './tools.mjs'

function readDevice(path) {
  const fd = fs.openSync(path, 'r')
  fs.closeSync(fd)
  return `${path} was opened`
}

export const files = {
  'home-list': { why: 'The names of files are personal already.', run: world => must(fs.readdirSync(world.home).length && 'listed', 'empty') },
  'home-secret': { why: 'Keys lie in the home.', run: world => steal(`${world.home}/.ssh/id_escape`, world.secret) },
  'home-secret-made-later': {
    why: 'What is written after the host was started must be as hidden as the rest.',
    run: world => steal(`${world.home}/later`, world.secret),
  },
  'home-startup-file': { why: 'A line in .profile runs at the next login.', run: world => plant(`${world.home}/.profile-escape`) },
  'home-autostart': {
    why: 'What lies in autostart runs with the session.',
    run: world => {
      fs.mkdirSync(`${world.home}/.config/autostart`, { recursive: true })
      return plant(`${world.home}/.config/autostart/escape.desktop`)
    },
  },
  'home-user-unit': {
    why: 'A unit in the home is started by the next daemon-reload.',
    run: world => {
      fs.mkdirSync(`${world.home}/.config/systemd/user`, { recursive: true })
      return plant(`${world.home}/.config/systemd/user/escape.service`)
    },
  },
  'service-config': { why: 'The configuration holds settings of all plugins.', run: world => steal(world.service.config, world.secret) },
  'service-config-write': { why: 'Who writes the configuration decides about the rules.', run: world => plant(`${world.service.home}/planted.toml`) },
  'service-trust-state': { why: 'The trust state says what may run.', run: world => must(fs.readFileSync(world.service.state, 'utf8').length && 'read', 'empty') },
  'service-decisions': { why: 'The decision log holds what others asked.', run: world => must(fs.readdirSync(world.service.decisions).length && 'listed', 'empty') },
  'other-plugin-data': { why: 'What another plugin stored is not ours.', run: world => steal(world.other.file, world.secret) },
  'other-plugin-records': { why: 'Its records neither.', run: world => must(fs.readdirSync(world.other.records).length && 'listed', 'empty') },
  'other-plugin-data-write': { why: 'And certainly not to be changed.', run: world => plant(`${world.other.folder}/planted`) },
  'other-plugin-code': { why: 'Its sealed copy may hold licences and secrets.', run: world => must(fs.readdirSync(world.other.sealed).length && 'listed', 'empty') },
  'own-records': {
    why: 'Records have quotas and a format that the service keeps: no writing behind its back.',
    run: world => plant(`${world.own.records}/planted.json`),
  },
  'own-code-by-its-real-path': { why: 'What was reviewed must stay what runs.', control: 'sealed copies are read-only files even outside', run: world => plant(`${world.own.sealed}/native/escape.mjs`) },
  'own-code': { why: 'The same, where the plugin sees it.', run: world => plant(`${world.bundle}/planted.mjs`) },
  'own-code-by-chmod': {
    why: 'A read-only file is the mode of a file; a read-only mount is a wall.',
    run: world => {
      fs.chmodSync(`${world.bundle}/plugin.json`, 0o666)
      return plant(`${world.bundle}/plugin.json`, '{}')
    },
  },
  'host-program': { why: 'Who changes the host changes the lock.', control: 'outside it is a file of the system, too', run: () => plant('/host/codewhale-extension-host.mjs') },
  'etc-passwd': { why: 'Names of the users of this machine.', run: () => must(fs.readFileSync('/etc/passwd', 'utf8').includes('root') && 'read', 'empty') },
  'etc-machine-id': { why: 'The machine id tracks the user for good.', control: world => world.machineId ? true : 'this machine has none', run: () => must(fs.readFileSync('/etc/machine-id', 'utf8').trim(), 'empty') },
  'var-tree': { why: 'Logs, mail, databases.', run: () => must(fs.readdirSync('/var').length && 'listed', 'empty') },
  'tmp-of-others-read': { why: '/tmp is shared by all programs of the machine.', run: world => steal(`${world.tmp}/secret`, world.secret) },
  'tmp-of-others-write': { why: 'A name that another program uses in /tmp is a trap for it.', run: world => plant(`${world.tmp}/planted`) },
  'shared-memory': { why: 'Files in /dev/shm are shared memory of browsers and databases.', run: world => plant(`/dev/shm/${world.mark}`) },
  'workspace': { why: 'The workspace of a session is shown only when the configuration says so.', run: world => steal(`${world.workspace}/secret`, world.secret) },
  'data-folder-climb': { why: 'dot dot beyond its own data folder.', run: world => steal(`${world.data}/${'../'.repeat(12)}${world.home}/.ssh/id_escape`, world.secret) },
  'link-to-a-secret': {
    why: 'A link in its data folder points wherever the plugin says; it must lead nowhere.',
    run: world => {
      fs.rmSync(`${world.data}/link`, { force: true })
      fs.symlinkSync(`${world.home}/.ssh/id_escape`, `${world.data}/link`)
      return steal(`${world.data}/link`, world.secret)
    },
  },
  'link-to-a-folder': {
    why: 'The same with a folder on the way.',
    run: world => {
      fs.rmSync(`${world.data}/links`, { force: true })
      fs.symlinkSync(world.home, `${world.data}/links`)
      return steal(`${world.data}/links/.ssh/id_escape`, world.secret)
    },
  },
  'hard-link-to-code': {
    why: 'A hard link keeps reviewed bytes alive under a name that can be written.',
    run: world => {
      fs.linkSync(`${world.bundle}/plugin.json`, `${world.data}/hard`)
      return 'linked'
    },
  },
  'bind-by-proc-root': { why: '/proc/PID/root of another process is a way around mounts.', run: world => steal(`/proc/${world.target.pid}/root${world.home}/.ssh/id_escape`, world.secret) },
  'folder-of-another': { why: '/proc/PID/cwd of another process is a folder of it.', run: world => must(fs.readdirSync(`/proc/${world.target.pid}/cwd`).length && 'listed', 'empty') },
  'set-user-id-file': {
    why: 'A set-user-id file in the home gives away what its owner may.',
    run: world => {
      plant(`${world.data}/suid`)
      fs.chmodSync(`${world.data}/suid`, 0o4755)
      return must(fs.statSync(`${world.data}/suid`).mode & 0o4000 && 'made', 'the bit was taken away')
    },
  },
  'set-user-id-program': {
    why: 'A program that becomes root at its start, or says who is who.',
    run: () => execute('/usr/bin/python3', ['-I', '-c', `
import subprocess, sys
done = subprocess.run(['/usr/bin/su', '--version'], capture_output=True, text=True)
status = open('/proc/self/status').read()
sys.exit('no new privileges') if 'NoNewPrivs:\\t1' in status else print(done.stdout)`]),
  },
  'device-node': {
    why: 'A device made by hand is the disk of the machine.',
    control: 'only root may make one',
    run: world => python(`
import stat
os.mknod(sys.argv[1], stat.S_IFCHR | 0o600, os.makedev(1, 1))
print('made')`, `${world.data}/mem`),
  },
  'device-memory': { why: 'The memory of the machine.', control: 'only root may open it', run: () => readDevice('/dev/mem') },
  'device-kernel-log': { why: 'The kernel log holds addresses.', control: 'usually only root may open it', run: () => readDevice('/dev/kmsg') },
  'device-terminal': { why: 'Typing into a terminal of the user.', run: () => readDevice('/dev/ptmx') },
  'device-fuse': { why: 'A file system of its own, mounted over something.', control: 'not every machine has it', run: () => readDevice('/dev/fuse') },
  'device-virtual-machine': { why: 'A virtual machine has system calls of its own.', control: 'not every machine has it', run: () => readDevice('/dev/kvm') },
  'control-group-of-its-own': {
    why: 'Raising its own memory limit, or leaving its group.',
    control: 'where the groups lie and who owns them is decided by the machine',
    run: () => {
      const path = fs.readFileSync('/proc/self/cgroup', 'utf8').split('\n').map(line => line.split(':').slice(2).join(':')).find(name => name.includes('.service'))
      return plant(`/sys/fs/cgroup${path}/cgroup.procs`, '0')
    },
  },
  'kernel-setting': { why: 'Where core dumps go is a program that root runs.', control: 'only root may', run: () => plant('/proc/sys/kernel/core_pattern', '|/data/escape') },
  'system-tree': { why: '/sys tells of hardware and switches it.', run: () => must(fs.readdirSync('/sys').length && 'listed', 'empty') },
  'system-tree-by-name': {
    why: 'What can not be listed can be guessed: which hardware there is, which units and containers run.',
    run: () => must(fs.statSync('/sys/fs/cgroup').isDirectory() && 'is there', 'nothing'),
  },
  'usr-write': { why: 'Programs that everybody runs.', control: 'only root may', run: () => plant('/usr/escape') },
}
