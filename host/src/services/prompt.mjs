// SPDX-License-Identifier: MIT
//
// ctx.prompt (contract 4.3)
import { checkKeys, checkText, propose } from '../registration.mjs'
import { RegistrationError } from '../errors.mjs'
import { frozenService } from '../cordis.mjs'

export const prompt = frozenService({
  registerSection(section) {
    checkKeys('prompt.registerSection', section, ['id', 'text', 'interpolate'])
    const { id, text, interpolate } = section
    if (interpolate !== undefined && interpolate !== 'model-cwd')
      throw new RegistrationError("interpolate is 'model-cwd' or not given")
    const spec = [['name', checkText('the id of a prompt section', id)], ['description', checkText('the text of a prompt section', text)]]
    return propose(this.ctx, interpolate === undefined ? 'prompt_section' : 'prompt_template', id, spec)
  },
})
