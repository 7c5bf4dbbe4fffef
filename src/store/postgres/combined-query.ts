/**
 * One query for the changes of a batch. Each query costs the server and the client the same again, whatever it changes:
 * of a batch of 32 requests in seven queries that is most of the work.
 *
 * The changes are parts of a `WITH`. All of them see the rows as they were before the query, so no two of them may be
 * of one row. If two are, a number of changes is not met. The whole query then fails, and the transactions run one by
 * one. The order of locks is kept by what the parts take from each other: nothing is changed before the fence is met,
 * and no shared row before the change ahead of it is met.
 */
import type { SqlValue } from '../statement.ts'
import { BATCH_SETTINGS, FENCE_CHANGE } from './instance.ts'
import { columnOfPart } from './outcomes.ts'

/** A change of rows. Its text has the values as `$1` and following, and must change exactly `changes` rows. */
export type BatchChange = {
  /** Names the text: equal names have equal texts. */
  readonly name: string
  readonly text: string
  readonly bind: readonly SqlValue[]
  readonly changes: number
  readonly returns?: readonly string[] | undefined
  /** Other instances change the row too. It is locked after all that are not shared, in the order given. */
  readonly isShared: boolean
}

/** The values of the fence: the instance, the number of the batch, and the number before it. */
export type FenceValues = readonly [instance: string, number: bigint, before: bigint]

/** A query with more parts takes longer to plan than it saves. */
const PARTS_MAX = 8
/** Each text is prepared, which takes memory of the server. Texts beyond so many are not made. */
const TEXTS_MAX = 48

export class CombinedQueries {
  private readonly texts = new Map<string, string>()

  /** The query of all changes, behind the fence if there is one. Undefined if they are better sent one by one. */
  combine(
    changes: readonly BatchChange[],
    fence: FenceValues | undefined,
  ): { readonly text: string; readonly bind: readonly SqlValue[] } | undefined {
    if (changes.length > PARTS_MAX || !changes.every(canCombine)) return undefined
    const name = changes.reduce((names, change) => `${names} ${change.name}`, fence ? 'fence' : '')
    let text = this.texts.get(name)
    if (text === undefined) {
      if (this.texts.size === TEXTS_MAX) return undefined
      this.texts.set(name, (text = textOf(changes, fence)))
    }
    const bind: SqlValue[] = fence ? [...fence] : []
    for (const change of changes) bind.push(...change.bind, BigInt(change.changes))
    return { text, bind }
  }
}

/** First the fence, then the changes that are not shared, whose numbers `own` checks, then the shared ones in order. */
function textOf(changes: readonly BatchChange[], fence: FenceValues | undefined): string {
  const parts: string[] = []
  let before: string | undefined
  /** Adds a row of what has been met. What takes from it runs later. */
  const meet = (name: string, conditions: readonly string[], others: readonly string[], from?: string): void => {
    const met = `1 / (${conditions.join(' AND ')})::int AS met`
    parts.push(`${name} AS MATERIALIZED (SELECT ${[met, ...others].join(', ')}${from ? ` FROM ${from}` : ''})`)
    before = name
  }
  let values = fence?.length ?? 0
  /** Adds a change. Returns the value that has the number of its rows. */
  const add = (name: string, text: string, { bind, returns = [] }: BatchChange): string => {
    const from = values
    values += bind.length + 1
    const numbered = text.replace(/\$(\d+)/g, (_, n: string) => `$${from + Number(n)}`)
    parts.push(`${name} AS (${numbered} RETURNING ${returns.join(', ') || 1})`)
    return `$${values}::bigint`
  }
  if (fence) {
    parts.push(`fenced AS (${FENCE_CHANGE} RETURNING 1)`)
    meet('fence', ['count(*) = 1'], [BATCH_SETTINGS], 'fenced')
  }
  const own = changes.filter(({ isShared }) => !isShared)
  const conditions = own.map((change, i) => {
    return `(SELECT count(*) FROM own_${i}) = ${add(`own_${i}`, behind(change.text, before), change)}`
  })
  if (own.length > 0) meet('own', conditions, [], before)
  const ends: string[] = []
  for (const [i, change] of changes.filter(({ isShared }) => isShared).entries()) {
    const count = add(`shared_${i}`, behind(change.text, before), change)
    const returned = (change.returns ?? []).map((column) => `max(${column}) AS ${columnOfPart(i, column)}`)
    meet(`met_${i}`, [`count(*) = ${count}`], returned, `shared_${i}`)
    ends.push(`met_${i}`)
  }
  return `WITH ${parts.join(',\n')}\nSELECT * FROM ${ends.length > 0 ? ends.join(', ') : before}`
}

/** The rows of a set to insert, and the only condition of an update. */
const ROWS = /FROM unnest\([^)]*\) AS each \([^)]*\)$/
const WHERE = /\sWHERE (?=(?:\w+\.)?\w+ = )(?!.*\sWHERE )/s

/** An insert of values cannot be made to wait, so its row must be this instance's own. */
const canCombine = ({ text, returns, isShared }: BatchChange): boolean =>
  text.startsWith('UPDATE ') ? WHERE.test(text) : text.startsWith('INSERT ') && !isShared && !returns

/** Lets a change run only once something is met. */
function behind(text: string, name: string | undefined): string {
  if (name === undefined) return text
  const isMet = `(SELECT met FROM ${name}) = 1`
  return ROWS.test(text) ? `${text} WHERE ${isMet}` : text.replace(WHERE, ` WHERE ${isMet} AND `)
}
