import { command, group } from './command.ts'
import { count, countOrNone, statedLimits, NONE } from './limits.ts'
import { operate, shown, usage } from './outcome.ts'
import { keyOptions, readVendorKey, type ProviderView } from './provider-key.ts'
import { providerKeyCommands } from './provider-keys.ts'
import { reachOptions, readReachOptions } from './provider-options.ts'
import { table } from './table.ts'
import { printable, type Terminal } from './terminal.ts'
import { text, type ValueRule } from './values.ts'

/** The value of `provider.test`. */
export type ProbeView = {
  readonly id: string
  readonly ok: boolean
  readonly status: number | null
  readonly took_ms: number
  readonly models: readonly string[]
  readonly problem: string | null
}

const provider = { name: 'id', summary: 'id of a provider', value: text('PROVIDER') } as const

const drawProviders = (views: readonly ProviderView[], terminal: Terminal): string =>
  table(
    views,
    [
      { title: 'id', of: ({ id }) => id },
      { title: 'preset', of: ({ preset }) => preset },
      { title: 'base url', of: (view) => view.base_url },
      { title: 'private', of: (view) => (view.allow_private ? 'allowed' : null) },
      { title: 'at once', of: (view) => view.concurrent_requests?.toString() ?? null },
      { title: 'key', of: (view) => (view.has_key ? 'yes' : null) },
      { title: 'proxy', of: (view) => view.proxy },
      { title: 'origin', of: ({ origin }) => origin },
    ],
    terminal,
  )

const onlyNone: ValueRule = {
  placeholder: NONE,
  problem: (given) =>
    given === NONE
      ? undefined
      : 'takes no key, because others on this machine could read it: use --key-stdin or --key-env NAME',
}

const add = command({
  name: 'provider add',
  summary: 'Adds a provider, or changes one. Its key is stored encrypted.',
  examples: [
    ['tollgate provider add groq --key-env GROQ_API_KEY', 'the id of a preset needs nothing more'],
    ['tollgate provider add openai-eu --preset openai --base-url https://eu.api.openai.com/v1 --key-stdin < key.txt'],
    ['tollgate provider add local --base-url http://127.0.0.1:8000/v1 --allow-private', 'a server on this machine'],
    [
      'tollgate provider add local --concurrent 8',
      'at most 8 requests at once; others wait a second, or use another offer',
    ],
    ['tollgate provider add local --key none', 'removes the stored key'],
    ['tollgate provider add openai --proxy http://proxy.example:3128', 'requests to it go through a proxy'],
  ],
  positionals: [{ name: 'id', summary: 'lower-case letters, digits, - and _', value: text('PROVIDER') }],
  options: {
    preset: {
      summary: 'vendor (tollgate provider presets); default: the id if it is a preset, else custom',
      value: text('PRESET'),
    },
    'base-url': { summary: "URL up to and including the version; none restores the preset's own", value: text('URL') },
    'allow-private': {
      summary: 'allow an address on this machine or a private network (not needed if the preset has one)',
    },
    'forbid-private': { summary: 'take --allow-private back' },
    concurrent: { summary: 'requests in flight there at once; none restores the usual limit', value: countOrNone },
    ...keyOptions,
    key: { summary: '`none` removes the stored key', value: onlyNone },
    ...reachOptions,
  },
  run: async ({ args: { id }, options, program, terminal }) => {
    const read = await readVendorKey(options, { terminal, command: 'provider add' })
    if ('kind' in read) return read
    const { preset, 'base-url': baseUrl, 'allow-private': allowed, 'forbid-private': forbidden } = options
    const more = readReachOptions(options, process.env)
    if (more.kind === 'wrong') return usage(`provider add: ${more.message}`)
    if (allowed && forbidden) return usage('provider add: use --allow-private or --forbid-private, not both')
    const input = {
      id,
      ...(preset && { preset }),
      ...(baseUrl && { base_url: baseUrl === NONE ? null : baseUrl }),
      ...((allowed || forbidden) && { allow_private: allowed }),
      ...statedLimits({ concurrent_requests: count(options.concurrent) }),
      ...(read.key !== undefined && { key: read.key }),
      ...more.input,
    }
    return operate<ProviderView>(program, { name: 'provider.add', input }, (view) =>
      shown(view, drawProviders([view], terminal), {
        talk: `Test whether it works: tollgate provider test ${view.id}`,
      }),
    )
  },
})

const providers = command({
  name: 'provider list',
  summary: 'Lists providers, never their keys.',
  examples: [['tollgate provider list']],
  run: ({ program, terminal }) =>
    operate<readonly ProviderView[]>(program, { name: 'provider.list', input: {} }, (views) => {
      const talk = views.length === 0 ? 'No providers yet. Add one: tollgate provider add PROVIDER' : undefined
      return shown(views, drawProviders(views, terminal), { talk })
    }),
})

const presets = command({
  name: 'provider presets',
  summary: 'Lists the known vendors, with the address and the environment variable that adds each at start.',
  examples: [['tollgate provider presets']],
  // The presets are part of the program, so this works without a data folder.
  run: async ({ terminal }) => {
    const { presetViews } = await import('../admin/preset-view.ts')
    const views = presetViews()
    const drawn = table(
      views,
      [
        { title: 'preset', of: ({ id }) => id },
        { title: 'vendor', of: ({ label }) => label },
        { title: 'base url', of: (view) => view.base_url },
        { title: 'key variable', of: (view) => view.key_variable },
      ],
      terminal,
    )
    return shown(views, drawn)
  },
})

/** One line about a probe: the status, the time it took, and what it means. */
export function probeText({ ok, status, took_ms: tookMs, models, problem }: ProbeView): string {
  const answered = status === null ? '' : `status ${status} in ${tookMs} ms, `
  const listed = models.length === 0 ? 'no list of models' : `${models.length} models`
  return answered + (ok ? listed : printable(problem ?? 'no reason given'))
}

const test = command({
  name: 'provider test',
  summary: 'Asks a provider for its models, to test its address and key. It costs nothing.',
  examples: [['tollgate provider test groq']],
  positionals: [provider],
  failure: 'the provider does not answer as it should',
  run: ({ args: { id }, program, terminal }) =>
    operate<ProbeView>(program, { name: 'provider.test', input: { id } }, (view) => {
      const verdict = view.ok ? terminal.paint('green', 'ok') : terminal.paint('red', 'failed')
      return { ...shown(view, `${view.id}  ${verdict}  ${probeText(view)}\n`), exitCode: view.ok ? 0 : 1 }
    }),
})

const resume = command({
  name: 'provider resume',
  summary: 'Lets offers of a provider that rest after failures take requests again at once.',
  examples: [['tollgate provider resume groq', 'for example, after its bill is paid']],
  positionals: [provider],
  notes:
    'A test that passes does the same, and so does a new key or address. Without a running server, no offer rests.\n' +
    'If instances share a database, all of them do it, and the number is that of the one that was asked.',
  run: ({ args: { id }, program }) =>
    operate<{ id: string; resumed: number }>(program, { name: 'provider.resume', input: { id } }, (value) =>
      shown(value, `${value.id}  ${value.resumed === 0 ? 'nothing rested' : `offers that rested: ${value.resumed}`}\n`),
    ),
})

const remove = command({
  name: 'provider remove',
  summary: 'Removes a provider and every offer that uses it.',
  examples: [['tollgate provider remove groq --yes']],
  positionals: [provider],
  confirms: ({ id }) => ({ consequence: `Provider '${id}' is removed with its key and its offers.`, word: id }),
  run: ({ args: { id }, program }) =>
    operate<{ id: string }>(program, { name: 'provider.remove', input: { id } }, (value) =>
      shown(value, `${value.id}  removed\n`),
    ),
})

export const providerGroup = group({
  name: 'provider',
  summary: 'Connections to model vendors.',
  examples: [['tollgate provider add groq --key-env GROQ_API_KEY'], ['tollgate provider test groq']],
  commands: [add, providers, presets, ...providerKeyCommands, test, resume, remove],
})
