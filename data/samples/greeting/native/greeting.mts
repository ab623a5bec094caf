// SPDX-License-Identifier: MIT
//
// An extension in TypeScript with settings. Its types are erased when it is reviewed, nothing is compiled: enums, decorators and
// other syntax that makes code do not work.
import z from 'schemastery'

interface Settings {
  greeting: string
}

interface Call {
  callId: string
}

export const inject = ['tools', 'commands']

/* The settings come from [plugins."greeting".config] of the user's configuration. This schema checks them and fills in what is not
 * there before apply() is called; a mistake fails the activation and names the field. */
export const Config = z.object({
  greeting: z.string().default('Hello'),
})

export function apply(ctx: any, config: Settings) {
  const greet = (name: string) => `${config.greeting}, ${name || 'world'}!`

  ctx.tools.register({
    name: 'hello_greet',
    description: 'Greets somebody by name, or the world',
    parameters: {
      type: 'object',
      properties: { name: { type: 'string' } },
      additionalProperties: false,
    },
    execute: (input: { name?: string }, exec: Call) => `${greet(input.name ?? '')} (${exec.callId})`,
  })

  ctx.commands.register({
    name: 'hello-greet',
    description: 'Greets somebody by name, or the world',
    argumentHint: '[name]',
    handler: ({ args }: { args: string }) => greet(args),
  })
}
