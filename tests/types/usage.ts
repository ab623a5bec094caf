// SPDX-License-Identifier: MIT
//
// Checked, never run: every service that an author is given, used as the documentation says, and what must not compile.
import type { Context, CoreCallError, Extension, Json, StorageError, Tool, Verdict } from '../../data/types/extension.d.ts'
import * as counter from '../../data/samples/counter/native/counter.mjs'
import * as greeting from '../../data/samples/greeting/native/greeting.mts'

const samples: Extension[] = [counter, greeting]

async function uses(ctx: Context, config: { greeting?: string }) {
  const tool: Tool<{ name: string }> = {
    name: 'x',
    description: 'd',
    parameters: { type: 'object' },
    async execute(input, exec) {
      exec.signal.throwIfAborted()
      const text: string = input.name + exec.callId + (exec.workspace ?? '') + (exec.dataDir ?? '')
      try {
        const result = await exec.core?.call('read_file', { path: 'x' }, { signal: exec.signal })
        return { text, isError: result?.isError ?? false, structured: result?.structured ?? null }
      } catch (error) {
        return (error as CoreCallError).code === 'refused' ? 'refused' : 'failed'
      }
    },
  }
  const dispose = ctx.tools.register(tool)
  await dispose()

  ctx.commands.register({ name: 'x', description: 'd', argumentHint: '[y]', handler: ({ args, attachments }) => ({ kind: 'submit', prompt: args + attachments.length }) })
  ctx.prompt.registerSection({ id: 'x', text: '{{cwd}}', interpolate: 'model-cwd' })
  const value: Json | undefined = await ctx.storage.get('key')
  await ctx.storage.set('key', [value ?? null, { a: 1 }])
  const gone: boolean = await ctx.storage.delete('key')
  ctx.skills.registerRoot({ path: 'skills' })
  ctx.mcp.registerServer({ serverName: 'x', server: { command: 'y' } })
  ctx.shellHooks.register({ dialect: 'codex', point: 'Stop', hook: { name: 'x' } })
  ctx.logger.info('%s', config.greeting ?? gone)
  ctx.logger('name').warn('x')
  ctx.effect(() => () => {}, 'label')
  ctx.on('tools/pre-execute', (call, next): Verdict => (call.name === 'x' ? { kind: 'deny', reason: 'no' } : next()))
  const code: StorageError['code'] = 'limit'
  return [samples, code]
}

function refused(ctx: Context) {
  // @ts-expect-error a tool without a schema
  ctx.tools.register({ name: 'x', description: 'd', execute: () => 1 })
  // @ts-expect-error a result that is no JSON
  ctx.tools.register({ name: 'x', description: 'd', parameters: {}, execute: () => new Map() })
  // @ts-expect-error a kind that does not exist
  ctx.commands.register({ name: 'x', description: 'd', handler: () => ({ kind: 'shout', text: 'x' }) })
  // @ts-expect-error another interpolation
  ctx.prompt.registerSection({ id: 'x', text: 'y', interpolate: 'all' })
  // @ts-expect-error what is stored is JSON
  void ctx.storage.set('x', () => 1)
  // @ts-expect-error another event
  ctx.on('agent/created', () => {})
  // @ts-expect-error nothing can be approved
  ctx.on('tools/pre-execute', () => ({ kind: 'allow' }))
}

export { refused, uses }
