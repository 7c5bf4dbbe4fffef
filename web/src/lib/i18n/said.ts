/**
 * What the server says, in the language of its reader. It says everything in English, with a reason and facts beside
 * it: in English its own words stand, another language has words for its reasons. Keys with a dot are for facts that
 * are words themselves: `what.account`.
 */

export type Facts = Readonly<Record<string, string | number>>
export type Said = { readonly reason?: string | undefined; readonly facts?: Facts | undefined }
export type SaidWords = Readonly<Record<string, string>>
/** What it speaks of, each with reasons of its own. */
export type Saying = 'refusals' | 'gateway'
export type Sayings = Readonly<Record<Saying, SaidWords>>

/** What it says by its reason; undefined where there are no words for that. */
export function wordsOf({ reason, facts = {} }: Said, table: SaidWords, language: string): string | undefined {
  if (reason === undefined || reason.includes('.') || !Object.hasOwn(table, reason)) return undefined
  return table[reason]?.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = facts[name] ?? ''
    if (typeof value === 'number') return new Intl.NumberFormat(language).format(value)
    // A field in a field has the words of its own name: `limits.spend_per_day_nano_usd`.
    const key = `${name}.${value.slice(value.lastIndexOf('.') + 1)}`
    return (Object.hasOwn(table, key) ? table[key] : undefined) ?? value
  })
}
