// SPDX-License-Identifier: MIT
//
// How an extension gets at the user's files: it has none of them in its sandbox, so it asks the core of the session to find and to
// read them. Each of these calls is decided like any other call; reading in the workspace asks nobody, most else does.

export const inject = ['tools']

const FILES_MAX = 20

const TOOL = {
  name: 'mod_wordcount',
  description: 'Counts the words in the text files of the workspace whose name matches a pattern such as *.md; at most 20 files.',
  parameters: {
    type: 'object',
    properties: {
      pattern: { type: 'string', minLength: 1, maxLength: 256, description: '* and ? are wild; *.md without it' },
    },
    additionalProperties: false,
  },
}

const textOf = result => result.content.map(block => block.text).join('')

export function apply(ctx) {
  ctx.tools.register({
    ...TOOL,
    async execute(input, exec) {
      /* There is no core when the session has no workspace, or when this is not a call of the model itself. */
      if (!exec.core) return 'This session has no core to read files with: open it with a workspace.'

      const found = await exec.core.call('file_search', { pattern: input.pattern ?? '*.md', limit: FILES_MAX })
      if (found.isError) return textOf(found)
      const paths = textOf(found).split('\n').filter(line => line !== '' && !line.startsWith('['))

      const counts = {}
      for (const path of paths.slice(0, FILES_MAX)) {
        try {
          const read = await exec.core.call('read', { path }, { signal: exec.signal })
          counts[path] = read.isError ? null : textOf(read).split(/\s+/).filter(word => word !== '').length
        } catch (error) {
          /* error.code: refused, denied, cancelled, unavailable, failed. One file that may not be read is no reason to stop. */
          if (error.name !== 'CoreCallError' || error.code === 'cancelled') throw error
          counts[path] = null
        }
      }
      return { files: counts, words: Object.values(counts).reduce((sum, count) => sum + (count ?? 0), 0) }
    },
  })
}
