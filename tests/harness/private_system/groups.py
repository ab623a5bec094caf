# SPDX-License-Identifier: MIT
"""One control group in every hierarchy of the machine for one private system: made, joined, shown inside, removed.

Version 1, hybrid and version 2 differ only in how many hierarchies there are and where they are mounted."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from private_system import linux

ROOT = Path('/sys/fs/cgroup')


@dataclass(frozen=True)
class Hierarchy:
    folder: Path      # where it is mounted
    controllers: str  # of version 1, as the mount option has them; empty for version 2


def find_hierarchies():
    """All mounted hierarchies, as /proc/self/cgroup and the mount table have them."""
    found = []
    for line in Path('/proc/self/mountinfo').read_text().splitlines():
        before, after = line.split(' - ', 1)
        kind, _, options = after.split(' ', 2)
        folder = Path(before.split(' ')[4])
        if ROOT not in (folder, *folder.parents):
            continue
        if kind == 'cgroup2':
            found.append(Hierarchy(folder, ''))
        elif kind == 'cgroup':
            words = [word for word in options.split(',') if word not in ('rw', 'ro', 'xattr', 'clone_children')]
            found.append(Hierarchy(folder, ','.join(word for word in words if not word.startswith('release_agent='))))
    return found


def is_unified(hierarchies):
    return any(hierarchy.folder == ROOT for hierarchy in hierarchies)


def make(hierarchies, name):
    for hierarchy in hierarchies:
        group = hierarchy.folder / name
        group.mkdir()
        # A group of cpuset version 1 takes no process before it has processors and memory nodes.
        for setting in ('cpuset.cpus', 'cpuset.mems'):
            source = hierarchy.folder / setting
            if not hierarchy.controllers or not source.exists():
                continue
            (group / setting).write_text(source.read_text())
        if not hierarchy.controllers and is_unified(hierarchies):
            _hand_down_controllers(hierarchy.folder)


def _hand_down_controllers(folder):
    """Give new groups of version 2 every controller; in a container that may not be allowed, and then it stays so."""
    for controller in (folder / 'cgroup.controllers').read_text().split():
        try:
            (folder / 'cgroup.subtree_control').write_text('+' + controller)
        except OSError:
            pass


def join(hierarchies, name):
    for hierarchy in hierarchies:
        (hierarchy.folder / name / 'cgroup.procs').write_text('0')


def mount_inside(hierarchies):
    """Show the groups rooted at this process's own; called in new mount and cgroup namespaces."""
    unified = is_unified(hierarchies)
    linux.unmount(str(ROOT))
    if unified:
        linux.mount('cgroup2', str(ROOT), 'cgroup2', linux.MS_NOSUID | linux.MS_NODEV)
        return
    linux.mount('tmpfs', str(ROOT), 'tmpfs', linux.MS_NOSUID | linux.MS_NODEV, 'mode=755')
    for hierarchy in hierarchies:
        hierarchy.folder.mkdir(exist_ok=True)
        kind = 'cgroup' if hierarchy.controllers else 'cgroup2'
        linux.mount(kind, str(hierarchy.folder), kind, linux.MS_NOSUID | linux.MS_NODEV, hierarchy.controllers or None)
    # Joint hierarchies ("cpu,cpuacct") are known by each of their names too.
    for hierarchy in hierarchies:
        for controller in hierarchy.controllers.split(',') if ',' in hierarchy.controllers else []:
            link = ROOT / controller
            if not link.exists() and '=' not in controller and controller != 'none':
                link.symlink_to(hierarchy.folder.name)


def _folders(group):
    return [Path(path) for path, _, _ in os.walk(group, topdown=False)]


def _kill_members(folder):
    try:
        members = (folder / 'cgroup.procs').read_text().split()
    except OSError:
        return
    for member in members:
        try:
            os.kill(int(member), signal.SIGKILL)
        except (ProcessLookupError, ValueError):
            pass


def remove(hierarchies, name, seconds=15):
    """Kill whatever lives in the groups and remove them. Returns the folders that could not be removed."""
    deadline = time.monotonic() + seconds
    while True:
        left = [hierarchy.folder / name for hierarchy in hierarchies if (hierarchy.folder / name).exists()]
        if not left or time.monotonic() > deadline:
            return left
        for folder in [folder for group in left for folder in _folders(group)]:
            _kill_members(folder)
            try:
                folder.rmdir()
            except OSError:
                pass
        if any(group.exists() for group in left):
            time.sleep(0.02)
