# SPDX-License-Identifier: MIT
"""About how long tests take, in seconds: only the order of jobs and the size of shares follow from it, so what is wrong costs time and
nothing else. `scripts/test --slowest N` tells them."""

# Classes of tests that take much longer than others of as many tests do, as SUITE:module.Class
SECONDS = {
    'integration:bus.BusEnds': 60,
    'integration:core_matrix.Matrix': 40,
    'integration:start_line.StartLine': 30,
    'integration:supervision.Isolation': 30,
    'integration:supervision.Retry': 64,
    'integration:supervision.Supervision': 40,
    'integration:authority.Generations': 28,
    'integration:listeners.Listeners': 30,
    'integration:watch.Watch': 35,
    'integration:hosts.Misbehaviour': 30,
    'integration:adversary_plugin.Plugin': 30,
    'integration:core_web.Pages': 20,
    'integration:hooks.Notices': 15,
    'integration:teardown.Teardown': 15,
    'sanitized-service:hosts.Misbehaviour': 35,
    'sanitized-service:calls.Requests': 20,
    'escape:escape_channel.Forged': 60,
    'escape:escape_links.Links': 15,
    'soak:soak.Short': 25,
    'types:types.Types': 10,
}
PER_TEST = 1.2
PER_TEST_OF = {'escape': 0.4, 'sanitized-service': 1.6}

# Programs and files of tests of the host that take longer than others, as SUITE:room/module
PROGRAMS = {
    'unit:service/kill': 60,
    'unit:dbus/limits': 35,
    'unit:schema/differential': 15,
    'unit:sandbox/unit': 9,
    'unit:service/lease-table': 6,
    'host:host/host-activation': 30,
    'host:host/host-services': 14,
    'host:host/host-lock': 14,
    'host:host/host-frame': 8,
    'host-node22:host/host-launch': 10,
    'host-node26:host/host-launch': 17,
    'host-node22:host/host-samples': 9,
    'host-node26:host/host-samples': 17,
    'sanitize:dbus/limits': 10,
    'sanitize:sandbox/unit': 9,
    'sanitize:policy/properties': 5,
    'sanitize:service/skill-limits': 5,
    'sanitize:service/bundle-tree': 5,
    'valgrind:service/bundle-tree': 20,
    'valgrind:sandbox/channel': 20,
    'valgrind:dbus/limits': 20,
    'valgrind:service/skill-limits': 19,
    'valgrind:service/plugin-job': 17,
    'valgrind:common/jdoc': 15,
    'valgrind:common/jdoc-plain': 15,
    'valgrind:service/config': 15,
    'valgrind:service/skill': 14,
    'valgrind:common/toml': 13,
    'valgrind:schema/schema': 12,
    'valgrind:fuzz/manifest': 11,
    'valgrind:sandbox/unit': 10,
    'valgrind:dbus/caller': 10,
    'valgrind:dbus/channel': 10,
    'valgrind:service/lease-table': 10,
}
PER_PROGRAM = 1
PER_PROGRAM_OF = {'valgrind': 3}


def of_class(suite, name, n_tests):
    return SECONDS.get(f'{suite}:{name}', n_tests * PER_TEST_OF.get(suite, PER_TEST))


def of_program(suite, name):
    return PROGRAMS.get(f'{suite}:{name}', PER_PROGRAM_OF.get(suite, PER_PROGRAM))
