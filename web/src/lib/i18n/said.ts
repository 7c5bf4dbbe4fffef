/**
 * Messages of the server in the user's language. The server sends English text with a reason and facts. In English its
 * text is shown, and other languages have texts by reason. Keys with a colon are facts that are words, such as
 * `what:account`.
 */
export type Facts = Readonly<Record<string, string | number>>
export type LocalizedMessage = { readonly reason?: string | undefined; readonly facts?: Facts | undefined }
export type SaidWords = Readonly<Record<string, string>>

/** The topics of messages. Each has its own reasons. */
type Saying = 'refusals' | 'gateway' | 'server' | 'invariants' | 'findings' | 'skips' | 'videos' | 'bookings'
export type Sayings = Readonly<Record<Saying, SaidWords>>

/** Undefined: there is no text for the reason, and the server's own is shown. */
export type Retell = (saying: Saying, said: LocalizedMessage) => string | undefined

export const retellerOf =
  (sayings: Sayings, language: string): Retell =>
  (saying, { reason, facts = {} }) => {
    const table = sayings[saying]
    const wordsFor = (key: string): string | undefined => (Object.hasOwn(table, key) ? table[key] : undefined)
    const wordOf = (name: string, value: string | number): string => {
      if (typeof value === 'number') return new Intl.NumberFormat(language).format(value)
      // A nested field uses the text of its last name: `limits.spend_per_day_nano_usd`.
      return wordsFor(`${name}:${value.slice(value.lastIndexOf('.') + 1)}`) ?? value
    }
    if (reason === undefined || reason.includes(':')) return undefined
    return wordsFor(reason)?.replaceAll(/\{(\w+)\}/g, (_, name: string) => wordOf(name, facts[name] ?? ''))
  }
