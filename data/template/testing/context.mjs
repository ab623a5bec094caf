// SPDX-License-Identifier: MIT
//
// As much of the host as a test needs: the services with the same names and answers, and nothing of their limits. What the service
// would refuse (a name that is taken, an input that does not fit the schema) it refuses there: codewhalectl dev shows that.

/* activate(module, config) -> {call, run, hook, registered, records, logged, end} */
export async function activate(module, config = {}) {
  const plugin = typeof module.default === 'function' || module.default?.apply ? module.default : module
  const kept = { tool: new Map(), command: new Map(), section: new Map(), other: new Map() }
  const records = new Map()
  const listeners = []
  const cleanups = []
  const logged = []

  const keep = (kind, name, value) => {
    if (kept[kind].has(name)) throw new Error(`${kind} ${name} is registered already`)
    kept[kind].set(name, value)
    const dispose = () => void kept[kind].delete(name)
    cleanups.push(dispose)
    return dispose
  }
  const copy = value => value === undefined ? undefined : JSON.parse(JSON.stringify(value))
  const log = level => (...args) => void logged.push([level, ...args])
  const logger = Object.assign(() => logger, Object.fromEntries(['debug', 'info', 'success', 'warn', 'error'].map(name => [name, log(name)])))

  const services = {
    tools: { register: tool => keep('tool', tool.name, tool) },
    commands: { register: command => keep('command', command.name, command) },
    prompt: { registerSection: section => keep('section', section.id, section) },
    skills: { registerRoot: root => keep('other', `skills ${root.path}`, root) },
    mcp: { registerServer: definition => keep('other', `mcp ${definition.serverName}`, definition) },
    shellHooks: { register: definition => keep('other', `shell hook ${definition.hook.name}`, definition) },
    storage: {
      get: async key => copy(records.get(key)),
      set: async (key, value) => void records.set(key, copy(value)),
      delete: async key => records.delete(key),
    },
  }
  const ctx = {
    logger,
    on(event, listener) {
      if (event !== 'tools/pre-execute') throw new Error(`there is no event ${event}`)
      listeners.push(listener)
      return () => void listeners.splice(listeners.indexOf(listener), 1)
    },
    effect(run) {
      const dispose = run()
      cleanups.push(dispose)
      return dispose
    },
  }
  /* A service that inject does not name is not there, as in the host. */
  for (const name of plugin.inject ?? module.inject ?? []) if (services[name]) ctx[name] = services[name]

  const schema = plugin.Config ?? module.Config
  const checked = schema?.['~standard'] ? await schema['~standard'].validate(config) : { value: config }
  if (checked.issues) throw new Error(checked.issues.map(issue => issue.message).join('; '))
  const apply = typeof plugin === 'function' ? plugin : plugin.apply
  const last = await apply.call(plugin, ctx, checked.value)
  if (typeof last === 'function') cleanups.push(last)

  const find = (kind, name) => kept[kind].get(name) ?? (() => { throw new Error(`there is no ${kind} ${name}`) })()
  const labels = { signal: new AbortController().signal, dataDir: process.cwd() }
  return {
    call: async (name, input = {}, more = {}) => find('tool', name).execute(input, { ...labels, callId: 'c-test', args: input, ...more }),
    run: async (name, args = '', more = {}) =>
      find('command', name).handler({ ...labels, commandId: 'c-test', args, rawInput: args && ` ${args}`, attachments: [], ...more }),
    hook: async call => {
      for (const listener of listeners) {
        const verdict = await listener({ callId: 'c-test', signal: labels.signal, ...call }, () => ({ kind: 'abstain' }))
        if (verdict && verdict.kind !== 'abstain') return verdict
      }
      return { kind: 'abstain' }
    },
    registered: () => Object.entries(kept).flatMap(([kind, members]) => [...members.keys()].map(name => `${kind} ${name}`)),
    records,
    logged,
    end: async () => {
      for (const cleanup of cleanups.reverse()) await cleanup()
      listeners.length = 0
    },
  }
}
