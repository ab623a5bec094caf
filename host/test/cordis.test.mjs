// SPDX-License-Identifier: MIT
//
// The facts about Cordis 4.0.4 that src/cordis.mjs, owner.mjs and plugin.mjs are written against. When one of these fails after an
// update, those files have to be read again.
import test from 'node:test'
import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { BUNDLE } from './harness.mjs'

/* The very package that the bundle was made of */
const load = () => import(join(dirname(BUNDLE), 'work/node_modules/@deepseek-ai/cordis/lib/index.js'))

/* src/cordis.mjs has this table because the enum does not exist at run time. */
const FIBER = { PENDING: 0, LOADING: 1, ACTIVE: 2, FAILED: 3, DISPOSED: 4, UNLOADING: 5 }

async function quietRoot() {
  const { Context } = await load()
  const root = new Context()
  root.logger.exporters.clear()
  return root
}

test('Cordis: the numbers of the states of a fiber', async () => {
  const root = await quietRoot()
  let release
  const fiber = root.plugin({ apply: () => new Promise(resolve => { release = resolve }) })
  assert.equal(fiber.state, FIBER.LOADING)
  await new Promise(setImmediate)
  release()
  await fiber
  assert.equal(fiber.state, FIBER.ACTIVE)
  const ending = fiber.dispose()
  assert.equal(fiber.state, FIBER.UNLOADING)
  await ending
  assert.equal(fiber.state, FIBER.DISPOSED)
  const failed = root.plugin({ apply: () => { throw new Error('x') } })
  await assert.rejects(async () => await failed)
  assert.equal(failed.state, FIBER.FAILED)
})

test('Cordis: a missing service leaves the fiber pending and resolves', async () => {
  const fiber = (await quietRoot()).plugin({ inject: ['nothing'], apply() {} })
  await fiber
  assert.equal(fiber.state, FIBER.PENDING)
})

test('Cordis: a plain function is constructed and its disposer is lost, an arrow function keeps it', async () => {
  let disposed = 0
  const root = await quietRoot()
  const plain = root.plugin(function (ctx) { return () => { disposed += 1 } })
  const arrow = root.plugin(ctx => () => { disposed += 10 })
  await Promise.all([plain, arrow])
  await Promise.all([plain.dispose(), arrow.dispose()])
  assert.equal(disposed, 10)
})

test('Cordis: a listener of internal/listener that returns a disposer takes the place of the registration', async () => {
  const root = await quietRoot()
  const seen = []
  root.on('internal/listener', function (name, listener, options) {
    if (name !== 'sample') return undefined
    seen.push([this.fiber.uid, options.prepend])
    return () => seen.push('disposed')
  })
  const fiber = root.plugin({ apply: ctx => { ctx.on('sample', () => {}, true)() } })
  await fiber
  assert.deepEqual(seen, [[fiber.uid, true], 'disposed'])
  assert.equal(root.events._hooks.sample, undefined)
})

test('Cordis: a service of another fiber than the root needs inject, its methods see the caller', async () => {
  const root = await quietRoot()
  const { Service } = await load()
  const service = Object.create({ who() { return this.ctx.fiber.name } })
  Object.defineProperty(service, Service.tracker, { value: { property: 'ctx', noShadow: true } })
  root.plugin({ name: 'provider', apply: ctx => { ctx.reflect.provide('sample', service) } })
  const seen = []
  await root.plugin({ name: 'caller', inject: ['sample'], apply: ctx => { seen.push(ctx.sample.who()) } })
  await assert.rejects(async () => await root.plugin({ name: 'stranger', apply: ctx => ctx.sample }), /without inject/)
  assert.deepEqual(seen, ['caller'])
})
