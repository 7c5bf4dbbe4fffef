/**
 * A message to people as data: a reason that identifies the sentence, the facts in it, and the sentence in English.
 * Other languages build the sentence from the reason and the facts.
 */
export type MessageFacts = Readonly<Record<string, string | number>>

export type LocalizedMessage = { readonly reason: string; readonly facts: MessageFacts; readonly message: string }

/** Sentences by their reasons; `{name}` is a fact. */
export type Sentences = Readonly<Record<string, string>>

type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never
type FactsOf<Text extends string> = MessageFacts & Readonly<Record<NamesIn<Text>, string | number>>

/** Makes messages from a table of sentences. The types require every fact of a sentence. */
export const speakerOf =
  <const Table extends Sentences>(table: Table) =>
  <Reason extends keyof Table & string>(
    reason: Reason,
    ...[facts = {}]: [NamesIn<Table[Reason]>] extends [never] ? [facts?: MessageFacts] : [facts: FactsOf<Table[Reason]>]
  ): LocalizedMessage => ({ reason, facts, message: fill(table[reason] ?? reason, facts) })

/** Puts facts into a sentence. */
export const fill = (sentence: string, facts: MessageFacts): string =>
  sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(facts[name] ?? ''))

/** The reason of a sentence without facts that was stored as text. */
export const reasonOf = (table: Sentences, sentence: string): string | undefined =>
  Object.keys(table).find((reason) => table[reason] === sentence)
