/** Calls in the history of a request, as every vendor takes them: their arguments are the JSON text of an object. */
import { asFields, fieldsIn, type Fields } from '../fields.ts'
import { toolOfCall, wordsOfCall } from './stream-calls.ts'

/** The arguments of a function: `{}` where there are none, and as text where they came as an object. */
export const argumentsIn = ({ arguments: given }: Fields): string => {
  const words = wordsOfCall(given)
  return words.trim() === '' ? '{}' : words
}

/** The messages; the list itself where nothing has to be put right. */
export function withLawfulCalls(messages: readonly Fields[]): readonly Fields[] {
  if (!messages.some(hasOddCall)) return messages
  return messages.map((message) =>
    hasOddCall(message) ? { ...message, tool_calls: callsIn(message).map((call) => lawfulCall(call)) } : message,
  )
}

const callsIn = ({ tool_calls: calls }: Fields): readonly unknown[] => (Array.isArray(calls) ? calls : [])

const isOdd = (one: unknown): boolean => {
  const call = asFields(one)
  const body = fieldsIn(call['function'])
  return body !== undefined && toolOfCall(call) === 'function' && argumentsIn(body) !== body['arguments']
}
const hasOddCall = (message: Fields): boolean => callsIn(message).some(isOdd)

function lawfulCall(one: unknown): unknown {
  if (!isOdd(one)) return one
  const call = asFields(one)
  const body = asFields(call['function'])
  return { ...call, function: { ...body, arguments: argumentsIn(body) } }
}
