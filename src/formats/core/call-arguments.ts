/** Tool calls in OpenAI's formats: the kind of tool, and its arguments as text. */
import type { Fields } from './fields.ts'

/** The arguments of a call as text. Some servers send them as an object. */
export const wordsOfCall = (words: unknown): string =>
  typeof words === 'string' ? words : typeof words === 'object' && words !== null ? JSON.stringify(words) : ''

export const toolOfCall = ({ type, custom }: Fields): 'function' | 'custom' =>
  type === 'custom' || (type === undefined && typeof custom === 'object' && custom !== null) ? 'custom' : 'function'

/** The arguments of a function. Missing ones become `{}`, and an object becomes text. */
export const argumentsIn = ({ arguments: given }: Fields): string => {
  const words = wordsOfCall(given)
  return words.trim() === '' ? '{}' : words
}
