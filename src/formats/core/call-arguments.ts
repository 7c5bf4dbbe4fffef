/** Calls of OpenAI's formats: which tool, and its arguments as text. */
import type { Fields } from './fields.ts'

/** The words of a call, as text: some servers give arguments as the object that they are. */
export const wordsOfCall = (words: unknown): string =>
  typeof words === 'string' ? words : typeof words === 'object' && words !== null ? JSON.stringify(words) : ''

export const toolOfCall = ({ type, custom }: Fields): 'function' | 'custom' =>
  type === 'custom' || (type === undefined && typeof custom === 'object' && custom !== null) ? 'custom' : 'function'

/** The arguments of a function: `{}` where there are none, and as text where they came as an object. */
export const argumentsIn = ({ arguments: given }: Fields): string => {
  const words = wordsOfCall(given)
  return words.trim() === '' ? '{}' : words
}
