import { command, group } from './command.ts'
import { operate, shown, usage } from './outcome.ts'
import { operateList, pageOptions } from './pages.ts'
import { readRecord, type Attempt, type RecordView, type StoredRow } from './record.ts'
import { drawRefusal, drawRefusals, isRefusalView, type RefusalView } from './refusal.ts'
import { details, shortTime, table, usd } from './table.ts'
import type { Terminal } from './terminal.ts'
import { text } from './values.ts'

const requests = command({
  name: 'request list',
  summary: 'Lists the newest requests, newest first.',
  examples: [
    ['tollgate request list'],
    ['tollgate request list acme --refused', 'refused requests, and why'],
    ['tollgate request list acme --limit 1000 --json', 'for the next 1000, add --before and the last id'],
  ],
  positionals: [
    { name: 'account', summary: 'only the requests of this account', value: text('ACCOUNT'), takes: 'maybe' },
  ],
  options: {
    ...pageOptions,
    refused: { summary: 'requests that were refused before any money was held, with their code' },
    code: { summary: 'with --refused: only this code', value: text('CODE') },
  },
  run: ({ args: { account }, options: { refused, code, ...paging }, program, terminal }) => {
    const input = { ...(account !== undefined && { account }) }
    if (code !== undefined && !refused) return Promise.resolve(usage('request list: --code goes with --refused'))
    if (refused) {
      const wanted = { ...input, ...(code !== undefined && { code }) }
      const refusals = { name: 'request.refused', input: wanted, paging, idOf: ({ id }: RefusalView) => id }
      return operateList(program, refusals, (views, rest) => {
        const talk = views.length === 0 ? 'No refused requests.' : undefined
        return shown(views, drawRefusals(views, terminal), { talk, rest })
      })
    }
    const records = { name: 'request.list', input, paging, idOf: (row: StoredRow) => readRecord(row).id }
    return operateList(program, records, (rows, rest) => {
      const views = rows.map(readRecord)
      const talk =
        views.length === 0 ? (paging.before === undefined ? 'No requests yet.' : 'No older requests.') : undefined
      return shown(views, drawRecords(views, terminal), { talk, rest })
    })
  },
})

const outcomeText = ({ outcome, error_code: code }: RecordView): string =>
  code === null || code === outcome ? outcome : `${outcome}, ${code}`

const drawRecords = (views: readonly RecordView[], terminal: Terminal): string =>
  table(
    views,
    [
      { title: 'time', of: (view) => shortTime(view.created_at) },
      { title: 'id', of: ({ id }) => id },
      { title: 'account', of: ({ account }) => account },
      { title: 'model', of: ({ model }) => model },
      { title: 'status', of: ({ status }) => status, kind: 'count' },
      { title: 'outcome', of: outcomeText },
      { title: 'in', of: (view) => view.input_tokens, kind: 'count' },
      { title: 'out', of: (view) => view.output_tokens, kind: 'count' },
      { title: 'charged', of: (view) => view.charged_usd, kind: 'money' },
      { title: 'ms', of: (view) => view.total_ms, kind: 'count' },
    ],
    terminal,
  )

function drawRecord(view: RecordView, terminal: Terminal): string {
  const inputParts = `${view.cached_input_tokens} cached, ${view.cache_write_tokens} written to cache`
  const pairs = [
    ['id', view.id],
    ['account', view.account],
    ['key', view.key_id],
    ['time', shortTime(view.created_at)],
    ['endpoint', `${view.endpoint}${view.stream ? ', streamed' : ''}`],
    ['model', view.model],
    ['served by', view.provider && `${view.provider}/${view.upstream_model ?? ''}`],
    ['status', view.status],
    ['outcome', outcomeText(view)],
    ['input', `${view.input_tokens} tokens (${inputParts})`],
    ['output', `${view.output_tokens} tokens (${view.reasoning_tokens} of reasoning)`],
    [
      'output limit',
      view.output_cap === null ? null : `${view.output_cap} tokens, ${capReasons[view.output_cap_reason ?? ''] ?? ''}`,
    ],
    ['pieces', view.pieces.map(({ unit, count }) => `${count} × ${unit.replace('piece:', '')}`).join(', ') || null],
    ['usage', view.usage_source],
    ['held', usd(view.held_usd)],
    ['charged', usd(view.charged_usd)],
    ['written off', view.written_off_usd === '0.00' ? null : `${usd(view.written_off_usd)}, for lack of balance`],
    ['price card', `${view.price_card}${priceOf(view)}`],
    ['cost to us', usd(view.upstream_cost_usd)],
    ['first event', view.first_event_ms === null ? null : `${view.first_event_ms} ms`],
    ['total', `${view.total_ms} ms`],
  ] as const
  return `${details(pairs, terminal)}\n${drawAttempts(view.attempts, terminal)}`
}

/** Whose prices the card has, if they are not those of the model. */
function priceOf({ price_factor: factor, price_basis: basis }: RecordView): string {
  if (factor !== null) return `, at the account's factor ${factor}`
  return basis === 'card' ? ", the account's own" : ''
}

/** The reason for an output limit that the client did not set. */
const capReasons: Readonly<Record<string, string>> = {
  operator: 'the default of the model',
  vendor: 'which the vendor demands',
  balance: 'for lack of balance',
  model_maximum: "the model's maximum",
}

/** The attempts, and below them the vendors' ids and messages. These are long, so each has a line of its own. */
function drawAttempts(attempts: readonly Attempt[], terminal: Terminal): string {
  const said = attempts.flatMap((attempt, i) => {
    const { code, type, message, upstream_request_id: id, provider_key: key = null } = attempt
    const words = [code, type === code ? null : type, message].filter((word) => word !== null).join(', ')
    const pairs = [
      [`attempt ${i + 1}, the provider's key`, key],
      [`attempt ${i + 1}, the vendor's id`, id],
      [`attempt ${i + 1}, the vendor's message`, words || null],
    ] as const
    return pairs.filter(([, value]) => value !== null)
  })
  return tableOfAttempts(attempts, terminal) + (said.length === 0 ? '' : `\n${details(said, terminal)}`)
}

const tableOfAttempts = (attempts: readonly Attempt[], terminal: Terminal): string =>
  table(
    attempts,
    [
      {
        title: 'attempt',
        of: ({ provider, model, public_model: named }) =>
          `${provider}/${model}${named === null ? '' : ` for ${named}`}`,
      },
      { title: 'result', of: ({ result }) => result },
      { title: 'status', of: ({ status }) => status, kind: 'count' },
      { title: 'at ms', of: (attempt) => attempt.started_ms, kind: 'count' },
      { title: 'took ms', of: (attempt) => attempt.took_ms, kind: 'count' },
    ],
    terminal,
  )

const show = command({
  name: 'request show',
  summary: 'Shows one request: tokens, money and every attempt, or why it was refused.',
  examples: [['tollgate request show req_01kpzt5x3c', 'the id is in the header x-request-id of the answer']],
  positionals: [{ name: 'id', summary: 'id of the request', value: text('REQUEST_ID') }],
  run: ({ args: { id }, program, terminal }) =>
    operate<StoredRow | RefusalView>(program, { name: 'request.show', input: { request: id } }, (row) => {
      if (isRefusalView(row)) return shown(row, drawRefusal(id, row, terminal))
      const view = readRecord(row)
      return shown(view, drawRecord(view, terminal))
    }),
})

export const requestGroup = group({
  name: 'request',
  summary: 'Requests, with their tokens, costs and attempts.',
  examples: [['tollgate request list'], ['tollgate request show req_01kpzt5x3c']],
  commands: [requests, show],
})
