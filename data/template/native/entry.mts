// SPDX-License-Identifier: MIT
//
// @TITLE@. The host imports this module and calls apply(ctx, config) once. Everything that is registered on ctx belongs to this
// extension and is taken back when it ends; there is nothing to clean up by hand.
//
// Types are erased when the bundle is reviewed, nothing is compiled: no enums, no decorators, no parameter properties.
import type { Context } from '../types/extension.d.ts'

interface Settings {
  greeting?: string
}

/* The services that this module uses. */
export const inject = ['tools', 'commands', 'storage']

/* The settings come from [plugins."@NAME@".config] in config.toml. */
export function apply(ctx: Context, config: Settings) {
  const greeting = config.greeting ?? 'Hello'

  ctx.tools.register<{ name?: string }>({
    name: '@TOOL@',
    description: 'Says hello to somebody, and how often it has done so.',
    /* JSON Schema. The service checks the input against it before anything of this runs. */
    parameters: {
      type: 'object',
      properties: { name: { type: 'string', maxLength: 64, description: 'Whom to greet' } },
      additionalProperties: false,
    },
    async execute(input, exec) {
      const times = Number(await ctx.storage.get('times') ?? 0) + 1
      await ctx.storage.set('times', times)
      ctx.logger.info('call %s is number %d', exec.callId, times)
      return { text: `${greeting}, ${input.name ?? 'world'}!`, times }
    },
  })

  ctx.commands.register({
    name: '@COMMAND@',
    description: 'Shows how often @TITLE@ said hello',
    handler: async () => `${greeting} was said ${await ctx.storage.get('times') ?? 0} times.`,
  })
}
