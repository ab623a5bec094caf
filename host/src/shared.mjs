// SPDX-License-Identifier: MIT
//
// The libraries that an extension shares with the host (contract 4.0.3), so that a context is a context for both, and what little
// of another host's interface is offered for compatibility.
import * as cosmokit from '@deepseek-ai/cosmokit'
import * as schemastery from '@deepseek-ai/schemastery'
import * as values from '@deepseek-ai/dsh-util-values'
import { cordis } from './cordis.mjs'
import { publishShared, shareModule } from './admission.mjs'

/* A tool made for the other host is a plain object there as well; the name is what it imports. */
const toolCompatibility = { defineTool: tool => tool }

/* There a brand that only the type checker sees */
const commandCompatibility = { CommandDefinitionId: id => String(id) }

export function shareLibraries() {
  shareModule('cordis', ['@deepseek-ai/cordis', 'cordis'], cordis)
  shareModule('schemastery', ['@deepseek-ai/schemastery', 'schemastery'], schemastery)
  shareModule('cosmokit', ['@deepseek-ai/cosmokit', 'cosmokit'], cosmokit)
  shareModule('dsh-util-values', ['@deepseek-ai/dsh-util-values', 'dsh-util-values'], values)
  shareModule('dsh-tools', ['@deepseek-ai/dsh-tools', 'dsh-tools'], toolCompatibility)
  shareModule('dsh-commands', ['@deepseek-ai/dsh-commands/brand', 'dsh-commands/brand'], commandCompatibility)
  publishShared()
}
