# SPDX-License-Identifier: MIT
"""The way from a fresh child process to process 1 of the private system: namespaces, throw-away folders, a user, systemd."""

import os
import shutil
import signal
import stat
from pathlib import Path

from private_system import apparmor, groups, linux, units

# Folders that the private system may change as it likes: overlays whose changes live in memory.
THROW_AWAY = ('etc', 'var', 'home', 'root', 'opt', 'srv', 'usr')
HOST_NAME = 'private-systemd'
PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'


def boot(plan):
    """Become process 1. Returns never; raises when something can't be set up."""
    linux.die_with_parent(signal.SIGKILL)
    groups.join(plan.hierarchies, plan.name)
    linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWUTS | linux.CLONE_NEWIPC | linux.CLONE_NEWNET | linux.CLONE_NEWCGROUP)
    linux.leave_chroot()
    linux.set_host_name(HOST_NAME)
    linux.bring_up_loopback()
    linux.mount('proc', '/proc', 'proc', linux.MS_NOSUID | linux.MS_NODEV)
    groups.mount_inside(plan.hierarchies)
    _mount_folders(plan)
    user_id = _make_user(plan.user) if plan.user else None
    units.write(user_id, plan.polkit, plan.broker)
    _run_setup(plan.setup)
    manager = next(path for path in ('/usr/lib/systemd/systemd', '/lib/systemd/systemd') if os.path.exists(path))
    if plan.profile:
        apparmor.enter_at_exec(plan.profile)
    os.execve(manager, [
        manager, '--system', f'--unit={units.TARGET}', '--show-status=no', '--log-target=journal',
    ], {'container': 'private-systemd', 'PATH': PATH, 'NOTIFY_SOCKET': '/run/private-systemd/notify'})


def _mount_folders(plan):
    # Everything to keep is opened before something is mounted over it.
    kept = [(folder, os.open(folder, os.O_PATH)) for folder in plan.kept]
    outside = os.open(plan.work, os.O_PATH)
    layers = f'{plan.work}/layers'
    os.mkdir(layers)
    linux.mount('tmpfs', layers, 'tmpfs', linux.MS_NOSUID, 'mode=755')
    for folder in THROW_AWAY:
        _mount_overlay(f'/{folder}', f'{layers}/{folder}')
    # Emptied and not covered: every mount is looked at again and again by whatever sets up a sandbox in here.
    for folder in ('/etc/systemd', *_generator_folders()):
        shutil.rmtree(folder)
        os.mkdir(folder)
    # The console and the kernel's log are the machine's; shared memory is per system.
    for device in ('/dev/console', '/dev/kmsg'):
        if os.path.exists(device):
            linux.bind('/dev/null', device)
    if os.path.isdir('/dev/shm'):
        linux.mount('tmpfs', '/dev/shm', 'tmpfs', linux.MS_NOSUID | linux.MS_NODEV, 'mode=1777')
    linux.mount('tmpfs', '/run', 'tmpfs', linux.MS_NOSUID | linux.MS_NODEV, 'mode=755')
    linux.mount('tmpfs', '/tmp', 'tmpfs', linux.MS_NOSUID | linux.MS_NODEV, 'mode=1777')
    os.mkdir('/run/private-systemd')
    linux.bind(f'/proc/self/fd/{outside}', '/run/private-systemd')
    for folder, fd in kept:
        _keep(folder, fd)
        os.close(fd)
    os.close(outside)


def _mount_overlay(folder, layer):
    if not os.path.isdir(folder) or os.path.islink(folder):
        return
    for part in ('upper', 'work'):
        os.makedirs(f'{layer}/{part}')
    mode = stat.S_IMODE(os.stat(folder).st_mode)
    os.chmod(f'{layer}/upper', mode)
    try:
        linux.mount('overlay', folder, 'overlay', 0, f'lowerdir={folder},upperdir={layer}/upper,workdir={layer}/work')
    except OSError:
        # Some file systems can't lie under an overlay. Homes may then be empty; what systemd needs may not.
        if folder not in ('/home', '/root', '/opt', '/srv'):
            raise
        linux.mount('tmpfs', folder, 'tmpfs', linux.MS_NOSUID, f'mode={mode:o}')


def _generator_folders():
    folders = ('/usr/lib/systemd/system-generators', '/usr/lib/systemd/user-generators',
               '/usr/lib/systemd/system-environment-generators', '/usr/lib/systemd/user-environment-generators')
    return [folder for folder in folders if os.path.isdir(folder)]


def _keep(folder, fd):
    """Show a folder of the outside at its own path, reachable for every user."""
    for ancestor in reversed(Path(folder).parents):
        if not ancestor.exists():
            ancestor.mkdir(mode=0o755)
        elif not ancestor.stat().st_mode & stat.S_IXOTH:
            if ancestor.parts[1:2] and ancestor.parts[1] in THROW_AWAY + ('tmp',):
                ancestor.chmod(ancestor.stat().st_mode | 0o111)
            else:
                linux.mount('tmpfs', str(ancestor), 'tmpfs', linux.MS_NOSUID, 'mode=755')
    os.makedirs(folder, exist_ok=True)
    linux.bind(f'/proc/self/fd/{fd}', folder)


def _make_user(name):
    """The id of a user, made if missing (only in the private /etc)."""
    rows = [line.split(':') for line in Path('/etc/passwd').read_text().splitlines() if line.count(':') == 6]
    for row in rows:
        if row[0] == name:
            return int(row[2])
    groups_used = {line.split(':')[2] for line in Path('/etc/group').read_text().splitlines() if line.count(':') == 3}
    used = {row[2] for row in rows} | groups_used
    user_id = next(number for number in range(1000, 60000) if str(number) not in used)
    home = Path('/home') / name
    with open('/etc/group', 'a', encoding='utf-8') as file:
        file.write(f'{name}:x:{user_id}:\n')
    with open('/etc/passwd', 'a', encoding='utf-8') as file:
        file.write(f'{name}:x:{user_id}:{user_id}:Test user:{home}:/bin/bash\n')
    with open('/etc/shadow', 'a', encoding='utf-8') as file:
        file.write(f'{name}:*:19000:0:99999:7:::\n')
    home.mkdir(parents=True, mode=0o700, exist_ok=True)
    os.chown(home, user_id, user_id)
    return user_id


def _run_setup(commands):
    for command in commands:
        status = os.waitstatus_to_exitcode(os.system(command))
        if status != 0:
            raise RuntimeError(f'the --setup command failed with {status}: {command}')
