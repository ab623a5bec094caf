// SPDX-License-Identifier: MIT
//
// Other programs, reached by sockets.
import fs from 'node:fs'
import net from 'node:net'
import { connect, must, plant, python, soon } from './tools.mjs'

export const sockets = {
  'bus-of-the-service': {
    why: 'Whoever speaks on the bus of the service can trust bundles and answer cards.',
    run: world => connect({ path: world.sockets.bus }),
  },
  'bus-of-the-session': {
    why: 'On the session bus are the secret service, the portals and every desktop program.',
    run: world => connect({ path: world.sockets.session }),
  },
  'bus-of-the-system': {
    why: 'On the system bus are polkit, logind and the network.',
    run: world => connect({ path: world.sockets.system }),
  },
  'manager-private-socket': {
    why: "systemd's private socket starts any unit without asking anybody.",
    run: world => connect({ path: world.sockets.manager }),
  },
  'manager-notify-socket': {
    why: 'A message to the notify socket passes for one of another unit.',
    run: world => python(`
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(sys.argv[1])
print('connected')`, world.sockets.notify),
  },
  'journal-socket': {
    why: 'Whatever writes to the journal can put words into the mouth of other units.',
    run: world => connect({ path: world.sockets.journal }),
  },
  'socket-in-tmp': {
    why: 'Many programs listen in /tmp: X11, ssh-agent, editors, databases.',
    run: world => connect({ path: world.sockets.tmp }),
  },
  'abstract-socket': {
    why: 'Abstract sockets have no file: no mount hides them, only a network namespace does.',
    run: world => connect({ path: `\0${world.abstract}` }),
  },
  'tcp-loopback': {
    why: 'Databases and development servers trust whoever comes from this machine.',
    run: world => connect({ host: '127.0.0.1', port: world.ports.tcp }),
  },
  'tcp6-loopback': {
    why: 'A filter for IPv4 alone is no filter.',
    control: world => world.ports.tcp6 ? true : 'this machine has no IPv6',
    run: world => connect({ host: '::1', port: must(world.ports.tcp6, 'no IPv6') }),
  },
  'http-fetch': {
    why: 'fetch() is the shortest way to send what was found.',
    run: async world => must((await (await soon(fetch(`http://127.0.0.1:${world.ports.http}/`), 'fetch')).text()).includes(world.secret)
      && 'the page was read', 'another page'),
  },
  'web-socket': {
    why: 'The other global of the runtime that opens a connection.',
    run: world => soon(new Promise((done, fail) => {
      const socket = new WebSocket(`ws://127.0.0.1:${world.ports.http}/`)
      socket.onerror = event => fail(new Error(event.error?.cause?.code || event.error?.message || event.message || 'no connection'))
      socket.onopen = () => done('open')
    }), 'web socket'),
  },
  'name-query': {
    why: 'A name that is looked up is a message to whoever runs the name server.',
    run: async world => {
      const { Resolver } = await import('node:dns/promises')
      const resolver = new Resolver({ timeout: 700, tries: 1 })
      resolver.setServers([`127.0.0.1:${world.ports.dns}`])
      return must((await soon(resolver.resolve4('escape.example'), 'query')).length && 'the name was answered', 'no answer')
    },
  },
  'udp-datagram': {
    why: 'One datagram without any connection is enough to send a secret.',
    run: async world => {
      const { createSocket } = await import('node:dgram')
      const socket = createSocket('udp4')
      try {
        return await soon(new Promise((done, fail) => {
          socket.once('message', () => done('it was answered'))
          socket.once('error', fail)
          socket.send('hello', world.ports.udp, '127.0.0.1', error => error && fail(error))
        }), 'datagram')
      } finally {
        socket.close()
      }
    },
  },
  'tcp-listen': {
    why: 'What listens can be asked by a page in the browser.',
    run: () => soon(new Promise((done, fail) => {
      const server = net.createServer()
      server.once('error', fail)
      server.listen(0, '127.0.0.1', () => {
        done(`listening on ${server.address().port}`)
        server.close()
      })
    }), 'listen'),
  },
  'unix-listen': {
    why: 'A socket in its data folder lies in the home: other programs could be talked into connecting to it.',
    run: world => soon(new Promise((done, fail) => {
      const server = net.createServer()
      server.once('error', fail)
      server.listen(`${world.data}/socket`, () => {
        done('listening')
        server.close()
      })
    }), 'listen'),
  },
  'netlink-socket': {
    why: 'Netlink shows and changes the network of the machine, and answers about processes.',
    run: () => python(`
import socket
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
print('made', s.fileno())`),
  },
  'crypto-socket': {
    why: 'AF_ALG has been a way into the kernel more than once.',
    control: 'the kernel may be built without it',
    run: () => python(`
import socket
s = socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET, 0)
print('made', s.fileno())`),
  },
  'machine-socket': {
    why: 'AF_VSOCK leads to the host of a virtual machine, past every network namespace.',
    control: 'the kernel may be built without it',
    run: () => python(`
import socket
s = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
print('made', s.fileno())`),
  },
  'raw-socket': { why: 'Packets of its own making.', control: 'only root may', run: () => python("import socket\nprint('made', socket.socket(socket.AF_INET, socket.SOCK_RAW, 255).fileno())") },
  'packet-socket': { why: 'Every packet of the machine.', control: 'only root may', run: () => python("import socket\nprint('made', socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).fileno())") },
  'bluetooth-socket': {
    why: 'Keyboards and telephones in reach.',
    control: 'the kernel may be built without it',
    run: () => python("import socket\nprint('made', socket.socket(31, socket.SOCK_RAW, 1).fileno())"),
  },
  'descriptor-from-a-socket': {
    why: 'A socket that carries descriptors is a way to hand one over, from whoever listens.',
    run: world => python(`
import socket
with socket.socket(socket.AF_UNIX) as s:
    s.connect('\\0' + sys.argv[1])
    s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack('i', 2))])
print('handed over')`, world.abstract),
  },
  'pipe-outside': {
    why: 'A named pipe is a channel to whoever opens it.',
    run: world => python(`
os.mkfifo(sys.argv[1])
print('made')`, `${world.outside}/pipe`),
  },
  'inherited-descriptors': {
    why: 'A descriptor of the service that survived into the host would be a door of its own.',
    control: 'what a plain process inherits is decided by who starts it',
    run: () => {
      const found = []
      for (let fd = 3; fd < 64; fd++) {
        try {
          const stat = fs.fstatSync(fd)
          if (stat.isSocket() || stat.isDirectory() || (stat.isFile() && !fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith('/plugin')))
            found.push(`${fd}: ${fs.readlinkSync(`/proc/self/fd/${fd}`)}`)
        } catch { /* not open, or not to be looked at */ }
      }
      return must(found.join(', '), 'none')
    },
  },
  'channel-as-socket': {
    why: 'The channel is a socket: connected anew it would lead elsewhere.',
    run: world => python(`
import socket
s = socket.socket(fileno=os.dup(0)) if os.fstat(0).st_mode & 0o170000 == 0o140000 else socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print('connected')`, world.sockets.bus),
  },
  'files-of-the-runtime-folder': {
    why: 'XDG_RUNTIME_DIR is full of sockets and cookies.',
    run: world => must(fs.readdirSync(world.runtimeFolder).length && 'listed', 'empty'),
  },
  'activation-file': {
    why: 'A D-Bus service file in the home starts a program at the next call to its name.',
    run: world => {
      fs.mkdirSync(`${world.home}/.local/share/dbus-1/services`, { recursive: true })
      return plant(`${world.home}/.local/share/dbus-1/services/org.example.Escape.service`)
    },
  },
}
