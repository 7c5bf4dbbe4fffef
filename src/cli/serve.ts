import manifest from '../../package.json' with { type: 'json' }
import { command } from './command.ts'
import { exitWith, jsonLine } from './outcome.ts'
import { listenFailure, type SetAddress } from './port.ts'
import type { ServerHandle } from './program.ts'
import { curlFor, keyHint } from './first-call.ts'
import { StopSignals } from './stop.ts'
import { details } from './table.ts'
import { failureOf } from './thrown.ts'
import type { Terminal } from './terminal.ts'
import { port, text } from './values.ts'

/** The number of models that the start text names. There may be hundreds. */
const MODELS_SHOWN = 6

export const serveCommand = command({
  name: 'serve',
  summary: 'Runs the server. SIGTERM, SIGHUP or Ctrl-C lets running requests end first; another one does not.',
  examples: [
    ['tollgate serve'],
    ['tollgate serve --port 9000 --data /var/lib/tollgate --config /etc/tollgate.yaml'],
    ['tollgate serve --json', 'prints the address as one line of JSON'],
  ],
  options: {
    port: { summary: 'port to listen on; 0 takes a free one (PORT, else 8080)', value: port },
    host: { summary: 'address to listen on (HOST, else 127.0.0.1)', value: text('HOST') },
  },
  failure: 'it could not start; stderr says why',
  run: async ({ options: { port: portGiven, host }, program, terminal }) => {
    if (portGiven !== undefined) process.env['PORT'] = portGiven
    if (host !== undefined) process.env['HOST'] = host
    const signals = new StopSignals()
    let serving: ServerHandle
    try {
      serving = await program.serve()
    } catch (error) {
      return listenFailure(error, ...addressesOf(process.env)) ?? failureOf(error)
    }
    terminal.data(terminal.json ? `${jsonLine(servingValue(serving))}\n` : servingText(serving, terminal))
    // The first key and the set-up link are printed before the server is ready.
    serving.open()
    await signals.first
    await signals.during((next) => serving.lameDuck(next))
    await serving.drain()
    return exitWith(0)
  },
})

/** The addresses on which a server listens: for the API, and for its metrics. */
function addressesOf(env: Readonly<Record<string, string | undefined>>): readonly [SetAddress, SetAddress] {
  const { HOST, PORT, TOLLGATE_METRICS_HOST, TOLLGATE_METRICS_PORT } = env
  return [
    { host: HOST || '127.0.0.1', port: Number(PORT || 8080), setBy: { host: 'HOST (--host)', port: 'PORT (--port)' } },
    {
      host: TOLLGATE_METRICS_HOST || '127.0.0.1',
      port: Number(TOLLGATE_METRICS_PORT),
      setBy: { host: 'TOLLGATE_METRICS_HOST', port: 'TOLLGATE_METRICS_PORT' },
    },
  ]
}

const servingValue = (serving: ServerHandle): object => ({
  version: manifest.version,
  base_url: serving.baseUrl,
  models: serving.models,
  data_folder: serving.dataFolder,
  pid: process.pid,
  first_key: serving.firstKey ?? null,
  setup_url: serving.setupUrl ?? null,
})

function servingText(serving: ServerHandle, terminal: Terminal): string {
  const { baseUrl, firstKey, setupUrl, account, models, dataFolder } = serving
  const more = models.length > MODELS_SHOWN ? ', …' : ''
  const facts = details(
    [
      ['Base URL', baseUrl],
      [
        'Models',
        models.length === 0
          ? 'none yet (tollgate model add --help)'
          : `${models.length}: ${models.slice(0, MODELS_SHOWN).join(', ')}${more}`,
      ],
      ['Data', dataFolder],
      ['Key', firstKey ? `${firstKey} (account '${account}'; shown only once)` : `make one: ${keyHint(account)}`],
      ...(setupUrl === undefined ? [] : [['Console', `${setupUrl} (choose a password; works once)`] as const]),
    ],
    terminal,
  )
  const call = firstKey === undefined ? undefined : curlFor({ baseUrl, key: firstKey, models: serving.callable })
  return `${terminal.paint('bold', `Tollgate ${manifest.version}`)}\n\n${facts}\n${call ? `${call}\n\n` : ''}`
}
