// SPDX-License-Identifier: MIT
//
// @TITLE@. The host imports this module and calls apply(ctx, config) once. Everything that is registered on ctx belongs to this
// extension and is taken back when it ends; there is nothing to clean up by hand.

/** @import { Context, JsonObject } from '../types/extension.d.ts' */

/* The services that this module uses. */
export const inject = ['tools', 'commands', 'storage']

/**
 * @param {Context} ctx
 * @param {{ greeting?: string }} config  from [plugins."@NAME@".config] in config.toml
 */
export function apply(ctx, config) {
  const greeting = config.greeting ?? 'Hello'

  ctx.tools.register({
    name: '@TOOL@',
    description: 'Says hello to somebody, and how often it has done so.',
    /* JSON Schema. The service checks the input against it before anything of this runs. */
    parameters: {
      type: 'object',
      properties: { name: { type: 'string', maxLength: 64, description: 'Whom to greet' } },
      additionalProperties: false,
    },
    /** @param {{ name?: string }} input */
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
