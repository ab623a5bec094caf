// SPDX-License-Identifier: MIT
//
// Native code, processes, threads and debuggers by every door of the runtime. In the plugin the lock and the flags shut these;
// where the walls of the unit alone do not, because nothing leaves the unit by that door, `inside` says so.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { must, soon } from './tools.mjs'

const SAME_WALLS = 'a process or thread that it starts is inside of the same walls'
const MARK = 'escape-door-was-here'

/* A library whose constructor leaves a mark in the working directory: native code ran, whatever its loader says of it. */
function marked(attempt) {
  fs.rmSync(MARK, { force: true })
  let reason
  try {
    attempt()
  } catch (error) {
    reason = error
  }
  if (fs.existsSync(MARK)) {
    fs.rmSync(MARK)
    return 'native code ran'
  }
  throw reason ?? new Error('no native code ran')
}

const markedImport = async path => {
  fs.rmSync(MARK, { force: true })
  const reason = await import(path).then(() => undefined, error => error)
  return must(fs.existsSync(MARK) && 'native code ran', reason?.message ?? 'no native code ran')
}

const copyDoor = (world, target) => {
  fs.copyFileSync(`${world.bundle}/native/door.node`, target)
  return target
}

export const native = {
  'dlopen': { why: 'The first door to native code.', run: world => marked(() => process.dlopen({ exports: {} }, `${world.bundle}/native/door.node`)) },
  'dlopen-from-data': { why: 'The same with a file that it wrote itself.', run: world => marked(() => process.dlopen({ exports: {} }, copyDoor(world, `${world.data}/door.node`))) },
  'dlopen-from-tmp': { why: 'And in the other writable place.', run: world => marked(() => process.dlopen({ exports: {} }, copyDoor(world, `/tmp/${world.mark}.node`))) },
  'require-addon': { why: 'require() of a .node file.', run: world => marked(() => createRequire(`${world.bundle}/native/escape.mjs`)('./door.node')) },
  'require-extension': { why: "The loader's own function for .node files.", run: world => marked(() => createRequire(`${world.bundle}/native/escape.mjs`).extensions['.node']({ exports: {} }, `${world.bundle}/native/door.node`)) },
  'import-addon': { why: 'import() of a .node file.', control: 'not every runtime knows it', run: world => markedImport(`${world.bundle}/native/door.node`) },
  'binding-spawn': {
    bun: 'Bun has no such binding',
    why: 'process.binding() gives what the modules stand on.',
    inside: SAME_WALLS,
    run: () => must(new (process.binding('process_wrap').Process)() && 'a process object', 'none'),
  },
  'binding-linked': { why: 'The other kind of binding.', control: 'no binding of that name is linked into the runtime', run: () => must(process._linkedBinding('spawn_sync'), 'none') },
  'execve': {
    why: 'Replacing the runtime by another program drops its flags.',
    control: 'it would end the control; execve-in-a-child is its control',
    inside: SAME_WALLS,
    skip: 'walls',
    run: () => {
      must(process.execve, 'this runtime has none')
      process.execve('/usr/bin/true', ['true'], {})
      return 'replaced'
    },
  },
  'spawn': { why: 'A child process has none of the flags.', inside: SAME_WALLS, run: async () => must((await import('node:child_process')).execFileSync('/usr/bin/id', ['-u']).length && 'ran', 'no') },
  'spawn-by-builtin-getter': { why: 'process.getBuiltinModule() passes the loader by.', inside: SAME_WALLS, run: () => must(process.getBuiltinModule('node:child_process').execFileSync('/usr/bin/id', ['-u']).length && 'ran', 'no') },
  'spawn-by-require': { why: 'createRequire() anywhere has its own way to the built-in modules.', inside: SAME_WALLS, run: () => must(createRequire('/elsewhere.cjs')('child_process').execFileSync('/usr/bin/id', ['-u']).length && 'ran', 'no') },
  'fork': { why: 'cluster and fork start the runtime anew, without flags.', inside: SAME_WALLS, run: async () => must((await import('node:cluster')).default.setupPrimary, 'no') && 'there' },
  'worker': {
    why: 'A thread has a realm of its own, without the lock.',
    inside: SAME_WALLS,
    run: async () => {
      const { Worker } = await import('node:worker_threads')
      const worker = new Worker('require("node:worker_threads").parentPort.postMessage("ran")', { eval: true })
      return soon(new Promise((done, fail) => worker.once('message', done).once('error', fail)), 'worker')
    },
  },
  'global-worker': { why: 'The Worker of browsers, where a runtime has it.', control: 'not every runtime has it', inside: SAME_WALLS, run: () => must(new globalThis.Worker('data:text/javascript,0') && 'made', 'no') },
  'foreign-functions': {
    why: 'node:ffi calls any function of any library.',
    control: 'only newer runtimes have it',
    inside: 'it calls libraries of /usr, inside of the same walls',
    run: async world => must((await import('node:ffi')).dlopen(world.libc, { getpid: { result: 'i32', parameters: [] } }) && 'opened', 'no'),
  },
  'sqlite-extension': {
    why: 'An extension of SQLite is native code.',
    run: async world => {
      const { DatabaseSync } = await import('node:sqlite')
      const database = new DatabaseSync(':memory:', { allowExtension: true })
      return marked(() => database.loadExtension(`${world.bundle}/native/door.node`))
    },
  },
  'wasi': { why: 'WASI gives WebAssembly files and clocks by a door of its own.', inside: SAME_WALLS, run: async () => must(new (await import('node:wasi')).WASI({ version: 'preview1', preopens: { '/': '/' } }) && 'made', 'no') },
  'inspector-session': {
    bun: 'the debugger of Bun has no such command',
    why: 'A debugger reads every object of the host, the channel included.',
    inside: 'it debugs its own process',
    run: async () => {
      const { Session } = await import('node:inspector')
      const session = new Session()
      session.connect()
      return soon(new Promise((done, fail) => session.post('Runtime.evaluate', { expression: '1' }, (error, value) => (error ? fail(error) : done(JSON.stringify(value))))), 'inspector')
    },
  },
  'inspector-port': { why: 'The same, open to the network.', run: async () => must(((await import('node:inspector')).open(0, '127.0.0.1'), (await import('node:inspector')).url()), 'no port') },
  'debug-signal': {
    bun: 'Bun has a debugger of another kind',
    why: 'SIGUSR1 opens the port of the debugger.',
    run: async () => {
      process._debugProcess(process.pid)
      await new Promise(done => setTimeout(done, 500))
      return must((await import('node:inspector')).url(), 'no port')
    },
  },
  'memory-of-its-own': {
    why: '/proc/self/mem writes over code that is mapped read-only: native code without any loader.',
    inside: 'it is its own memory, inside of the same walls',
    run: () => {
      fs.closeSync(fs.openSync('/proc/self/mem', 'r+'))
      return 'opened'
    },
  },
  'heap-snapshot': {
    why: 'A heap snapshot holds every string of the process.',
    inside: 'it is its own heap',
    run: async () => must((await import('node:v8')).writeHeapSnapshot(), 'none'),
  },
  'report': { bun: 'Bun writes no reports', why: 'A report holds the environment and the limits.', inside: 'it is about its own process', run: () => must(process.report.writeReport(), 'none') },
  'engine-flags': { why: 'Flags of the engine switch the lock of the engine off.', inside: 'the engine is inside of the same walls', run: async () => must(((await import('node:v8')).setFlagsFromString('--allow-natives-syntax'), 'set'), 'no') },
  'options-for-children': {
    why: 'NODE_OPTIONS that it sets for the next start of itself.',
    control: 'its own environment is its own',
    run: world => must(process.env.NODE_OPTIONS?.includes(world.secret) && 'inherited', 'nothing is inherited'),
  },
  'end-of-the-host': {
    why: 'process.reallyExit() and abort() end other plugins of a shared host.',
    control: 'it would end the control',
    skip: 'walls',
    inside: 'it is its own process',
    run: () => {
      process.reallyExit(0)
      return 'ended'
    },
  },
}
