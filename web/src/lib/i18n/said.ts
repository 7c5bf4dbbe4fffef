/**
 * What the server says, in the language of its reader. It says everything in English, with a reason and facts beside
 * it: in English its own words stand, another language has words for its reasons. Keys with a colon are for facts that
 * are words themselves: `what:account`.
 */
export type Facts = Readonly<Record<string, string | number>>
export type LocalizedMessage = { readonly reason?: string | undefined; readonly facts?: Facts | undefined }
export type SaidWords = Readonly<Record<string, string>>

/** What it speaks of, each with reasons of its own. */
type Saying = 'refusals' | 'gateway' | 'server' | 'invariants' | 'findings' | 'skips' | 'videos' | 'bookings'
export type Sayings = Readonly<Record<Saying, SaidWords>>

/** Undefined where there are no words, and those of the server have to do. */
export type Retell = (saying: Saying, said: LocalizedMessage) => string | undefined

export const retellerOf =
  (sayings: Sayings, language: string): Retell =>
  (saying, { reason, facts = {} }) => {
    const table = sayings[saying]
    const wordsFor = (key: string): string | undefined => (Object.hasOwn(table, key) ? table[key] : undefined)
    const wordOf = (name: string, value: string | number): string => {
      if (typeof value === 'number') return new Intl.NumberFormat(language).format(value)
      // A field in a field has the words of its own name: `limits.spend_per_day_nano_usd`.
      return wordsFor(`${name}:${value.slice(value.lastIndexOf('.') + 1)}`) ?? value
    }
    if (reason === undefined || reason.includes(':')) return undefined
    return wordsFor(reason)?.replaceAll(/\{(\w+)\}/g, (_, name: string) => wordOf(name, facts[name] ?? ''))
  }
