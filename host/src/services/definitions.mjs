// SPDX-License-Identifier: MIT
//
// ctx.skills, ctx.mcp and ctx.shellHooks (contract 4.5 to 4.7): definitions that the core judges and keeps. The host passes them on.
import { encodeJson, quote } from '../json.mjs'
import { checkKeys, checkText, propose } from '../registration.mjs'
import { RegistrationError } from '../errors.mjs'
import { frozenService } from '../cordis.mjs'

export const skills = frozenService({
  registerRoot(root) {
    checkKeys('skills.registerRoot', root, ['path'])
    const { path } = root
    return propose(this.ctx, 'skill_root', path, [['name', checkText('the path of a skill root', path)], ['description', '""']])
  },
})

export const mcp = frozenService({
  registerServer(definition) {
    checkKeys('mcp.registerServer', definition, ['serverName', 'server'])
    const { serverName, server } = definition
    const text = encodeJson(server, { strict: true, name: 'server' })
    if (text[0] !== '{') throw new RegistrationError('the server of an MCP definition is an object')
    return propose(this.ctx, 'mcp_server', serverName, [['name', checkText('the name of an MCP server', serverName)], ['description', quote(text)]])
  },
})

export const shellHooks = frozenService({
  register(definition) {
    checkKeys('shellHooks.register', definition, ['dialect', 'point', 'matcher', 'hook'])
    const name = definition.hook?.name
    const { matcher, ...rest } = definition
    const text = encodeJson(matcher === undefined ? rest : { ...rest, matcher }, { strict: true, name: 'the hook definition' })
    return propose(this.ctx, 'shell_hook', name, [['name', checkText('the name of a shell hook', name)], ['description', quote(text)]])
  },
})
