/** A request that was refused before any money was held, as operations return it. */
import { details, shortTime, table } from './table.ts'
import type { Terminal } from './terminal.ts'

export type RefusalView = {
  readonly refused: true
  readonly id: string
  readonly account: string | null
  readonly key_id: string | null
  readonly method: string
  readonly endpoint: string
  readonly model: string | null
  readonly status: number
  readonly code: string
  readonly created_at: string
  /** How many similar refusals followed without a row of their own, and the time of the last. */
  readonly repeats: number
  readonly last_at: string
}

export const isRefusalView = (view: object): view is RefusalView => 'refused' in view

const NOBODY = 'unknown'

/** A path is shown with its method. An endpoint that has a name is always called with POST. */
const endpointOf = ({ method, endpoint }: RefusalView): string =>
  endpoint.startsWith('/') ? `${method} ${endpoint}` : endpoint

export const drawRefusals = (views: readonly RefusalView[], terminal: Terminal): string =>
  table(
    views,
    [
      { title: 'time', of: (view) => shortTime(view.created_at) },
      { title: 'id', of: ({ id }) => id },
      { title: 'account', of: ({ account }) => account ?? NOBODY },
      { title: 'endpoint', of: endpointOf },
      { title: 'model', of: ({ model }) => model },
      { title: 'status', of: ({ status }) => status, kind: 'count' },
      { title: 'code', of: ({ code }) => code },
      { title: 'more', of: ({ repeats }) => (repeats === 0 ? null : repeats), kind: 'count' },
    ],
    terminal,
  )

export function drawRefusal(asked: string, view: RefusalView, terminal: Terminal): string {
  const rows = [
    ['id', view.id],
    ['outcome', `refused, ${view.code}: nothing was sent to a vendor or charged`],
    ['status', view.status],
    ['account', view.account ?? NOBODY],
    ['key', view.key_id],
    ['time', shortTime(view.created_at)],
    ['endpoint', endpointOf(view)],
    ['model', view.model],
    ['more like it', view.repeats === 0 ? null : `${view.repeats}, until ${shortTime(view.last_at)}`],
    ['requested id', asked === view.id ? null : `${asked}, which is one of these`],
  ] as const
  return details(rows, terminal)
}
