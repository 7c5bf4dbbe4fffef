import { command } from './command.ts'
import { exitWith, failed, jsonLine, usage, type CommandOutcome } from './outcome.ts'
import { listenFailure } from './port.ts'
import { StopSignals } from './stop.ts'
import { failureOf } from './thrown.ts'
import { port, text, wholeNumber } from './values.ts'
import { DAY_MS } from '../lib/primitives/units.ts'

const PORT_DEFAULT = 9090

export const sandbox = command({
  name: 'sandbox',
  summary: 'Runs the built-in vendor alone, for tests. It answers without a model, with faults on demand.',
  examples: [
    ['tollgate sandbox'],
    ['tollgate sandbox --port 0 --pace 0 --json', 'on a free port, at full speed'],
    ['tollgate sandbox --fault status=429,retry-after=2 --fault fail-times=3', 'three refusals, then answers'],
    ['tollgate sandbox --task 0', 'videos that are ready at once'],
  ],
  options: {
    port: { summary: `port to listen on; 0 takes a free one (default: ${PORT_DEFAULT})`, value: port },
    host: { summary: 'address to listen on (default: 127.0.0.1)', value: text('HOST') },
    pace: {
      summary: 'time between two events of a stream (default: 8)',
      value: wholeNumber('MS', { min: 0, max: DAY_MS }),
    },
    task: {
      summary: 'time that a video takes (default: 4000)',
      value: wholeNumber('MS', { min: 0, max: DAY_MS }),
    },
    'key-env': {
      summary: 'environment variable with the key that it requires (default: no key)',
      value: text('NAME'),
    },
    fault: { summary: 'how it fails, see below', value: text('KNOBS'), takes: 'many' },
    key: { refused: 'a key in the command line can be read by others on this machine: use --key-env NAME' },
  },
  notes: `\
Knobs of --fault, as name=value or a bare name with commas between them:
  status=400…599            answer with this status and the body that a vendor would send
  retry-after=SECONDS       with a status: the retry-after header
  delay-ms=MS               silence before the headers
  stall-after-events=N      a stream falls silent after N events
  stall-ms=MS               a stalled stream goes on after this time (default: never)
  cut-after-bytes=N         reset the connection after N bytes of the body; 0 resets it without an answer
  garbage                   200 with meaningless bytes
  accept-then-close         read the request, then reset the connection
  empty-stream              200 and a clean end without an event
  error-event[=N]           the Nth event is an error, then the end
  no-usage, wrong-usage     report no usage, or one that does not add up
  no-done                   a stream without [DONE]
  answer-lost               carry out the request, then reset the connection without an answer
  wrong-type                send a file as text/html
  redirects=N               N redirects before a video
  fail-times=N              the knobs beside it work only N times
  pace=MS                   not a fault: time between two events of a stream
How a video ends:
  fails, filtered, expires, cancels, hangs
  lost[=N]                  from the Nth poll on, the task does not exist
  link-ms=MS                time that its link is valid (default: a day)
  dead-links[=N]            N of its links are dead from the start
  task-ms=MS                not a fault: time that the video takes
The same knobs work in a model name (sandbox-chat!status=500), in the header x-sandbox-fault, in POST /sandbox/faults,
and in the prompt of a video: [sandbox: fails]. A knob with submit-, poll-, download- or upscale- before its name works
only on those requests of a video: [sandbox: poll-status=503, poll-fail-times=2, upscale-fails].
Videos: /v1/contents/generations/tasks (Ark), /v1/tools/enhance-video and /v1/tasks/ID (AI MediaKit),
/v1beta/models/MODEL:predictLongRunning (Gemini), /v1/projects/… (Vertex); GET /sandbox/videos counts them.`,
  run: async ({ options, terminal }) => {
    const [{ startSandbox }, { parseKnobText }] = await Promise.all([
      import('../../sandbox/server.ts'),
      import('../../sandbox/faults.ts'),
    ])
    const parsed = parseKnobText(options.fault.join(','))
    if (parsed.kind === 'refused') return usage(`sandbox: ${parsed.message}`)
    const apiKey = readKey(options['key-env'])
    if (typeof apiKey === 'object') return apiKey
    const setBy = { host: '--host', port: '--port' }
    const address = { host: options.host ?? '127.0.0.1', port: Number(options.port ?? PORT_DEFAULT), setBy }
    const { first: stop } = new StopSignals()
    const { paceMs, taskMs, ...faults } = parsed.knobs
    let server: ReturnType<typeof startSandbox>
    try {
      server = startSandbox({
        port: address.port,
        hostname: address.host,
        faults,
        ...(apiKey !== undefined && { apiKey }),
        // The pace may also be a knob. It is not a fault, so `fail-times` does not count it.
        ...timesOf({ paceMs: numberOr(options.pace, paceMs), taskMs: numberOr(options.task, taskMs) }),
      })
    } catch (error) {
      return listenFailure(error, address) ?? failureOf(error)
    }
    const value = { base_url: server.url, port: server.port, pid: process.pid }
    terminal.data(terminal.json ? `${jsonLine(value)}\n` : `Sandbox at ${server.url}\n`)
    await stop
    await server.stop()
    return exitWith(0)
  },
})

type Times = { paceMs?: number; taskMs?: number }

const timesOf = ({ paceMs, taskMs }: { [Name in keyof Times]: number | undefined }): Times => ({
  ...(paceMs !== undefined && { paceMs }),
  ...(taskMs !== undefined && { taskMs }),
})

const numberOr = (option: unknown, knob: number | undefined): number | undefined =>
  option === undefined ? knob : Number(option)

function readKey(variable: string | undefined): string | undefined | CommandOutcome {
  if (variable === undefined) return undefined
  return process.env[variable] || failed('no_key', `the environment has no ${variable}`)
}
