import { command, group } from './command.ts'
import { operate, shown } from './outcome.ts'
import { shortTime, table } from './table.ts'
import { text } from './values.ts'

type OrphanView = {
  readonly request: string
  readonly account: string
  readonly model: string
  readonly offer: string | null
  readonly upstream_id: string | null
  readonly why: string
  readonly created_at: string
}

const orphans = command({
  name: 'videos orphans',
  summary: 'Lists videos that a vendor may be making, and billing, for nobody.',
  examples: [['tollgate videos orphans'], ['tollgate videos orphans --json']],
  notes:
    'Their clients were told that they failed, and paid nothing. Look for them at the vendor by time and id, cancel\nwhat can be cancelled, and take them off the list with videos settle.',
  run: ({ program, terminal }) =>
    operate<readonly OrphanView[]>(program, { name: 'video.orphans', input: {} }, (list) => {
      const columns = [
        { title: 'time', of: (one: OrphanView) => shortTime(one.created_at) },
        { title: 'request', of: ({ request }: OrphanView) => request },
        { title: 'account', of: ({ account }: OrphanView) => account },
        { title: 'offer', of: ({ offer, model }: OrphanView) => offer ?? model },
        { title: 'id there', of: ({ upstream_id: id }: OrphanView) => id ?? '?' },
        { title: 'why', of: ({ why }: OrphanView) => why },
      ]
      const talk = list.length === 0 ? 'No orphans.' : undefined
      return shown(list, table(list, columns, terminal), { talk })
    }),
})

const settle = command({
  name: 'videos settle',
  summary: 'Takes an orphan off the list, once you have looked after it.',
  examples: [['tollgate videos settle req_01kpzt5x3c']],
  positionals: [{ name: 'request', summary: 'its request, as the list says', value: text('REQUEST_ID') }],
  run: ({ args: { request }, program }) =>
    operate<object>(program, { name: 'video.settle', input: { request } }, (value) =>
      shown(value, '', { talk: `${request} is off the list.` }),
    ),
})

export const videosGroup = group({
  name: 'videos',
  summary: 'Videos that need an operator to look after them.',
  examples: [['tollgate videos orphans']],
  commands: [orphans, settle],
})
