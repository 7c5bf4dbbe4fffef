/** Lists that an operation returns in pages. A command reads the wanted number of rows, and says if there are more. */
import { failed, jsonLine, type CommandOutcome, type ShownOutcome } from './outcome.ts'
import type { Program } from './program.ts'
import { text, wholeNumber } from './values.ts'

/** Rows of a list without `--limit`. */
const ROWS = 20
/** Rows of one operation. */
const PAGE_ROWS_MAX = 1_000
const ROWS_MAX = 100_000

export const pageOptions = {
  limit: {
    summary: `number of rows, up to ${ROWS_MAX} (default: ${ROWS})`,
    value: wholeNumber('N', { min: 1, max: ROWS_MAX }),
  },
  before: { summary: 'only rows older than this one', value: text('ID') },
} as const

type PageOptions = { readonly limit: string | undefined; readonly before: string | undefined }

type ListPage<V> = {
  readonly name: string
  readonly input: object
  readonly paging: PageOptions
  /** The value of a row that `--before` takes. */
  readonly idOf: (row: V) => string
}

/** Shows the rows. `rest` says that there are more and how to see them. It is undefined if these are all. */
export async function operateList<V>(
  program: Program,
  { name, input, paging, idOf }: ListPage<V>,
  show: (rows: readonly V[], rest: ShownOutcome['rest']) => CommandOutcome,
): Promise<CommandOutcome> {
  const wanted = paging.limit === undefined ? ROWS : Number(paging.limit)
  const rows: V[] = []
  let before = paging.before
  // One row more than wanted shows whether there are more.
  for (let isOver = false; !isOver && rows.length <= wanted;) {
    const limit = Math.min(wanted + 1 - rows.length, PAGE_ROWS_MAX)
    const result = await program.operate(name, { ...input, limit, ...(before !== undefined && { before }) })
    if (!result.ok) return failed(result.code, result.message)
    const page = JSON.parse(jsonLine(result.value)) as readonly V[]
    rows.push(...page)
    const last = page.at(-1)
    if (last !== undefined) before = idOf(last)
    isOver = page.length < limit
  }
  const shown = rows.slice(0, wanted)
  const last = shown.at(-1)
  if (rows.length <= wanted || last === undefined) return show(shown, undefined)
  const count = shown.length === 1 ? 'The newest one is' : `The newest ${shown.length} are`
  const text = `${count} shown, and there are more: --limit N shows N, --before ${idOf(last)} shows the next ones.`
  return show(shown, { text, isWanted: paging.limit !== undefined })
}
