// SPDX-License-Identifier: MIT
//
// A complete extension: one tool, one command, one listener, one prompt section and a little state. Copy it and change it.
//
// The host imports this module and calls apply(ctx, config) once. Everything that is registered on ctx belongs to this extension
// and is taken back when it is disabled; there is nothing to clean up by hand.

/* The services that this module uses. One that the host does not have fails the activation and is named. */
export const inject = ['tools', 'commands', 'prompt', 'storage']

/* The key of the one record in ctx.storage. Records are JSON and outlive restarts, updates and even an uninstall. */
const COUNT = 'count'

const TOOL = {
  name: 'mod_counter',
  description: 'Adds one to a stored counter and returns it. With "increment": false it only reads the counter.',
  /* JSON Schema. The service checks the input against it, before a person is asked and again before this code is called. */
  parameters: {
    type: 'object',
    properties: {
      label: { type: 'string', maxLength: 64, description: 'Comes back with the answer' },
      increment: { type: 'boolean', description: 'false leaves the counter as it is' },
    },
    additionalProperties: false,
  },
}

export function apply(ctx) {
  const readCount = async () => await ctx.storage.get(COUNT) ?? 0

  /* Two calls at the same time must not read the same number: each waits for the one before it. */
  let last = Promise.resolve()
  function nextCount() {
    const next = last.then(async () => {
      const count = await readCount() + 1
      await ctx.storage.set(COUNT, count)
      return count
    })
    last = next.catch(() => {})
    return next
  }

  /* A tool answers with text or with JSON. exec tells about this very call; what nobody supplied is not there. */
  ctx.tools.register({
    ...TOOL,
    async execute(input, exec) {
      const count = input.increment === false ? await readCount() : await nextCount()
      return {
        count,
        label: input.label ?? null,
        callId: exec.callId,
        sessionId: exec.sessionId ?? null,
        agentId: exec.agentId ?? null,
        originTurnId: exec.originTurnId ?? null,
      }
    },
  })

  /* A command is for people only; the model cannot run it. */
  ctx.commands.register({
    name: 'mod-count',
    description: 'Shows the stored counter',
    handler: async () => `The counter is at ${await readCount()}.`,
  })

  /* What the model is told at every turn while the extension is enabled. */
  ctx.prompt.registerSection({
    id: 'counter-example',
    text: `The tool ${TOOL.name} counts. Use it when the user wants something counted.`,
  })

  /* Asked before any tool runs, whoever made it. next() means "no opinion"; nobody can approve anything here. */
  ctx.on('tools/pre-execute', (call, next) => {
    if (call.name !== TOOL.name) return next()
    if (call.arguments.label === 'blocked') return { kind: 'deny', reason: 'The label "blocked" is not counted.' }
    return { kind: 'annotate', text: 'Seen by the counter sample.' }
  })
}
