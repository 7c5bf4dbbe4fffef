/** The keys of a provider that has several. */
import { command } from './command.ts'
import { count, statedLimits } from './limits.ts'
import { operate, shown, usage } from './outcome.ts'
import { keyOptions, readVendorKey, type ProviderView } from './provider-key.ts'
import { countText, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { text, wholeNumber } from './values.ts'

type KeyView = {
  readonly id: string
  readonly concurrent_requests: number | null
  readonly in_flight: number
  readonly rests_until: string | null
  readonly reason: string | null
}

const provider = { name: 'id', summary: 'id of a provider', value: text('PROVIDER') } as const

const drawKeys = (views: readonly KeyView[], terminal: Terminal): string =>
  table(
    views,
    [
      { title: 'key', of: ({ id }) => id },
      { title: 'at once', of: (view) => view.concurrent_requests?.toString() ?? null },
      { title: 'in flight', of: (view) => view.in_flight.toString() },
      { title: 'rests until', of: (view) => view.rests_until },
      { title: 'reason', of: ({ reason }) => reason },
    ],
    terminal,
  )

const changed = ({ id, keys }: ProviderView): string =>
  `${id}  ${keys.length === 0 ? 'one key' : `${countText(keys.length, 'key')}: ${keys.map((key) => key.id).join(', ')}`}\n`

const list = command({
  name: 'provider keys',
  summary: 'Lists the keys of a provider that has several, by their fingerprints, and which of them rest.',
  examples: [['tollgate provider keys openai']],
  positionals: [provider],
  run: ({ args: { id }, program, terminal }) =>
    operate<readonly KeyView[]>(program, { name: 'provider.key.list', input: { id } }, (views) =>
      shown(views, views.length === 0 ? `${id}  at most one key\n` : drawKeys(views, terminal)),
    ),
})

const add = command({
  name: 'provider add-key',
  summary: 'Adds a key to a provider. Requests use its keys in turn, and a key that is refused rests.',
  examples: [
    ['tollgate provider add-key openai --key-env SECOND_KEY'],
    ['tollgate provider add-key openai --key-stdin --concurrent 20 < key.txt', 'at most 20 requests at once with it'],
  ],
  positionals: [provider],
  options: {
    ...keyOptions,
    concurrent: { summary: 'requests in flight with this key', value: wholeNumber('N', { min: 1, max: 1_000_000 }) },
  },
  run: async ({ args: { id }, options, program, terminal }) => {
    const read = await readVendorKey({ ...options, key: undefined }, { terminal, command: 'provider add-key' })
    if ('kind' in read) return read
    if (!read.key) return usage('provider add-key: give the key with --key-stdin or --key-env')
    const limits = statedLimits({ concurrent_requests: count(options.concurrent) })
    const input = { id, key: read.key, ...limits }
    return operate<ProviderView>(program, { name: 'provider.key.add', input }, (view) => shown(view, changed(view)))
  },
})

const remove = command({
  name: 'provider remove-key',
  summary: 'Removes one of several keys. Requests in flight with it go on.',
  examples: [['tollgate provider remove-key openai 3f9a01bc', 'the fingerprint is in tollgate provider keys']],
  positionals: [provider, { name: 'key', summary: 'fingerprint of a key', value: text('KEY') }],
  run: ({ args: { id, key }, program }) =>
    operate<ProviderView>(program, { name: 'provider.key.remove', input: { id, key_id: key } }, (view) =>
      shown(view, changed(view)),
    ),
})

export const providerKeyCommands = [list, add, remove]
