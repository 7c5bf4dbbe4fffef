/** Reading JSON that somebody else wrote: what is not as expected reads as absent. */
export type Fields = Readonly<Record<string, unknown>>

export const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

export const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** The JSON object in a text; undefined when it is none. */
export function parseFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined // Whoever asked says what that means.
  }
}

/** A word that may be kept and logged: what is none could be anything, a prompt among it. */
export const codeIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? value : undefined
