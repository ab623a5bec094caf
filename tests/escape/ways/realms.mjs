// SPDX-License-Identifier: MIT
//
// Code that nobody reviewed, and realms without the lock. Nothing leaves the unit by these doors: what they would open is the
// review. So they are shut by the host, and `inside` says that the walls have no part in it.
import fs from 'node:fs'
import module, { createRequire } from 'node:module'
import { must } from './tools.mjs'

const REVIEW = 'code that was not reviewed is still inside of the same walls'
const inner = { inside: REVIEW }

const run = text => globalThis.eval(text)

function write(world, name, text) {
  fs.writeFileSync(`${world.data}/${name}`, text)
  return `${world.data}/${name}`
}

export const realms = {
  'eval': { ...inner, why: 'A text from anywhere becomes code.', run: () => must(run('"ran"'), 'no') },
  'function-constructor': { ...inner, why: 'The same by another name.', run: () => must(new Function('return "ran"')(), 'no') },
  'function-of-a-function': { ...inner, why: 'Every function leads to its constructor.', run: () => must((() => 0).constructor('return "ran"')(), 'no') },
  'async-function-constructor': { ...inner, why: 'So do the other three kinds.', run: async () => must(await (async () => 0).constructor('return "ran"')(), 'no') },
  'generator-constructor': { ...inner, why: 'See above.', run: () => must((function* () {}).constructor('yield "ran"')().next().value, 'no') },
  'function-subclass': {
    ...inner,
    why: 'A class that extends Function calls the constructor by super().',
    run: () => must(new (class extends Function {})('return "ran"')(), 'no'),
  },
  'timer-with-text': { ...inner, why: 'Browsers take text for a timer.', control: 'Node refuses it to everybody', run: () => must(setTimeout('globalThis.x = 1', 0) && 'taken', 'no') },
  'vm': { ...inner, why: 'vm compiles text in any realm.', run: async () => must((await import('node:vm')).runInThisContext('"ran"'), 'no') },
  'vm-new-context': { ...inner, why: 'A new context has fresh primordials.', run: async () => must((await import('node:vm')).runInNewContext('"ran"'), 'no') },
  'shadow-realm': { ...inner, why: 'A realm of its own, without the lock.', control: 'runtimes have it behind a flag', run: () => must(new globalThis.ShadowRealm().evaluate('"ran"'), 'no') },
  'repl': { ...inner, why: 'The interactive prompt evaluates.', run: async () => must((await import('node:repl')).start && 'there', 'no') },
  'test-runner': { ...inner, why: 'The test runner starts processes.', run: async () => must((await import('node:test')).run && 'there', 'no') },
  'trace-events': { ...inner, why: 'Traces are written wherever the process may.', run: async () => must((await import('node:trace_events')).createTracing && 'there', 'no') },
  'import-written-file': { ...inner, why: 'A module that it wrote itself was reviewed by nobody.', run: async world => must((await import(write(world, 'own.mjs', 'export default "ran"'))).default, 'no') },
  'require-written-file': { ...inner, why: 'The same with CommonJS.', run: world => must(createRequire(`${world.bundle}/native/escape.mjs`)(write(world, 'own.cjs', 'module.exports = "ran"')), 'no') },
  'import-written-json': { ...inner, why: 'JSON is data, but the rule is one for all.', run: async world => must((await import(write(world, 'own.json', '"ran"'), { with: { type: 'json' } })).default, 'no') },
  'import-data-text': { ...inner, why: 'A data: URL is code from a string.', run: async () => must((await import('data:text/javascript,export default "ran"')).default, 'no') },
  'import-blob': {
    ...inner,
    why: 'So is a blob.',
    control: 'Node refuses it to everybody',
    run: async () => must((await import(URL.createObjectURL(new Blob(['export default "ran"'])))).default, 'no'),
  },
  'import-through-a-link': {
    ...inner,
    why: 'A link beside the data leads to a file of another name.',
    run: async world => {
      fs.rmSync(`${world.data}/linked.mjs`, { force: true })
      fs.symlinkSync(write(world, 'target.mjs', 'export default "ran"'), `${world.data}/linked.mjs`)
      return must((await import(`${world.data}/linked.mjs`)).default, 'no')
    },
  },
  'import-with-a-query': {
    ...inner,
    why: 'A query makes the loader read the file once more, perhaps with other bytes.',
    run: async world => must((await import(`${write(world, 'query.mjs', 'export default "ran"')}?again`)).default, 'no'),
  },
  'import-from-the-net': { ...inner, why: 'Code from the network.', control: 'Node refuses it to everybody', run: async world => must(await import(`http://127.0.0.1:${world.ports.http}/code.mjs`), 'no') },
  'import-a-package': { ...inner, why: 'A package of the machine that nobody reviewed.', control: 'the machine may have none', run: async () => must(await import('undici'), 'no') },
  'loader-hooks': {
    bun: 'Bun has none',
    ...inner,
    why: 'Hooks that are registered last are asked first.',
    run: () => {
      must(module.registerHooks, 'none')
      const hooks = module.registerHooks({})
      hooks.deregister()
      return 'registered'
    },
  },
  'loader-thread': { ...inner, why: 'The older hooks run in a thread of their own.', run: world => must((module.register(`file://${write(world, 'hook.mjs', 'export {}')}`), 'registered'), 'no') },
  'module-compile': {
    ...inner,
    why: 'The compiler of CommonJS takes a text.',
    run: () => {
      const own = new module('own')
      own._compile('module.exports = "ran"', 'own.cjs')
      return must(own.exports, 'no')
    },
  },
  'module-wrapper': {
    bun: 'Bun wraps nothing',
    ...inner,
    why: 'What the loader wraps around a module is a text that can be changed.',
    run: world => {
      const { wrap } = module
      try {
        module.wrap = () => '(function (exports, require, module) { module.exports = "ran" })'
        const found = createRequire(`${world.bundle}/native/escape.mjs`)('./wrapped.cjs')
        return must(found === 'ran' && found, 'the reviewed text ran')
      } finally {
        module.wrap = wrap
      }
    },
  },
  'prototype-setter': {
    ...inner,
    why: '__proto__ is how objects from JSON change every other one.',
    run: () => {
      const target = {}
      target.__proto__ = { polluted: 'polluted' }
      return must(target.polluted, 'no')
    },
  },
  'patched-primordials': {
    ...inner,
    why: 'Whoever patches Map or JSON must not be asked by the host whether a file was reviewed.',
    run: async world => {
      const path = write(world, 'patched.mjs', 'export default "ran"')
      const has = Map.prototype.has
      const { parse } = JSON
      const { startsWith } = String.prototype
      Map.prototype.has = () => true
      String.prototype.startsWith = () => true
      JSON.parse = text => parse(text)
      try {
        return must((await import(path)).default, 'no')
      } finally {
        Map.prototype.has = has
        String.prototype.startsWith = startsWith
        JSON.parse = parse
      }
    },
  },
}
