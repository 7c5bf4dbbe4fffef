import { hashOf } from '../random.ts'
import type { ErrorFields } from '../reply.ts'
import type { RequestContent, Part } from './request.ts'

/** Google documents this value for histories whose signatures were lost. */
const SKIP = 'skip_thought_signature_validator'

const encode = (subject: unknown): string =>
  Buffer.from(`sandbox thought ${hashOf(JSON.stringify(subject))}`).toString('base64')

/** The signature of the thoughts behind a call. It fits only this call. */
export const signatureOfCall = (name: string, args: object): string => encode([name, args])

/** The signature of the thoughts behind a text. */
export const signatureOfText = (): string => encode('text')

/** The first call of each model turn must have its signature, or the value that waives it. */
export function findForgery(contents: readonly RequestContent[]): ErrorFields | undefined {
  for (const [i, { role, parts }] of contents.entries()) {
    if (role !== 'model') continue
    const first = parts.findIndex((part) => part.functionCall)
    for (const [j, part] of parts.entries()) {
      const fault = faultOf(part, j === first)
      if (fault) return { message: `${fault} (contents[${i}].parts[${j}])`, code: 'invalid_value' }
    }
  }
  return undefined
}

function faultOf({ functionCall, thoughtSignature: given }: Part, isFirstCall: boolean): string | undefined {
  if (given === SKIP) return undefined
  if (given === undefined) {
    return isFirstCall ? 'Function call is missing a thought_signature in functionCall parts.' : undefined
  }
  const expected = functionCall ? signatureOfCall(functionCall.name, functionCall.args ?? {}) : signatureOfText()
  return given === expected ? undefined : 'Thought signature is not valid.'
}
