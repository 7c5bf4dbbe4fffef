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
  summary: 'Lists orphans: videos that a vendor may still make and bill, although no client waits for them.',
  examples: [['tollgate videos orphans'], ['tollgate videos orphans --json']],
  notes:
    'The clients paid nothing. Look for the videos at the vendor by time and id, cancel those that can be cancelled,\nand take them off the list with videos settle.',
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
  summary: 'Takes an orphan off the list once you have dealt with it.',
  examples: [['tollgate videos settle req_01kpzt5x3c']],
  positionals: [{ name: 'request', summary: 'the id of its request, from the list', value: text('REQUEST_ID') }],
  run: ({ args: { request }, program }) =>
    operate<object>(program, { name: 'video.settle', input: { request } }, (value) =>
      shown(value, '', { talk: `${request} is off the list.` }),
    ),
})

export const videosGroup = group({
  name: 'videos',
  summary: 'Videos that need the attention of an operator.',
  examples: [['tollgate videos orphans']],
  commands: [orphans, settle],
})
