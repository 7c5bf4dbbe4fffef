import { command } from './command.ts'
import { exitWith, failed, jsonLine, usage, type CommandOutcome } from './outcome.ts'
import { listenFailure } from './port.ts'
import { stopSignal } from './stop.ts'
import { failureOf } from './thrown.ts'
import { port, text, wholeNumber } from './values.ts'

const PORT_DEFAULT = 9090

export const sandbox = command({
  name: 'sandbox',
  summary: 'Runs the built-in vendor alone, for tests: answers without a model, faults on demand.',
  examples: [
    ['tollgate sandbox'],
    ['tollgate sandbox --port 0 --pace 0 --json', 'a free port, as fast as it goes'],
    ['tollgate sandbox --fault status=429,retry-after=2 --fault fail-times=3', 'three refusals, then answers'],
    ['tollgate sandbox --task 0', 'videos that are there at once'],
  ],
  options: {
    port: { summary: `port to listen on; 0 takes a free one (else ${PORT_DEFAULT})`, value: port },
    host: { summary: 'address to listen on (else 127.0.0.1)', value: text('HOST') },
    pace: {
      summary: 'time between two events of a stream (else 8)',
      value: wholeNumber('MS', { min: 0, max: 86_400_000 }),
    },
    task: {
      summary: 'how long a video takes (else 4000)',
      value: wholeNumber('MS', { min: 0, max: 86_400_000 }),
    },
    'key-env': {
      summary: 'the key it wants is in this environment variable; it wants none without',
      value: text('NAME'),
    },
    fault: { summary: 'how it misbehaves, see below', value: text('KNOBS'), takes: 'many' },
    key: { refused: 'a key in the command line can be read by others on this machine: use --key-env NAME' },
  },
  notes: `\
Knobs of --fault, as name=value or a bare name with commas between them:
  status=400…599            answer this status with the body a vendor would send
  retry-after=SECONDS       with a status: the retry-after header
  delay-ms=MS               silence before the headers
  stall-after-events=N      a stream falls silent after N events
  stall-ms=MS               … and goes on after this time; never without it
  cut-after-bytes=N         reset the connection after N bytes of the body; 0: without an answer
  garbage                   200 with bytes that mean nothing
  accept-then-close         read the request, then reset the connection
  empty-stream              200 and a clean end without an event
  error-event[=N]           the Nth event is an error, then the end
  no-usage, wrong-usage     report no usage, or one that does not add up
  no-done                   a stream without [DONE]
  answer-lost               do what was asked, then reset the connection without an answer
  wrong-type                a file comes as text/html
  redirects=N               N redirects before a video
  fail-times=N              the knobs beside it work N times only
  pace=MS                   no fault: time between two events of a stream
How a video ends:
  fails, filtered, expires, cancels, hangs
  lost[=N]                  from the Nth look on there is no such task
  link-ms=MS                how long its link is good (else a day)
  dead-links[=N]            N of its links have died before anybody follows them
  task-ms=MS                no fault: how long it takes
The same knobs go into a model name (sandbox-chat!status=500), the header x-sandbox-fault, and POST /sandbox/faults;
for a video also into its prompt: [sandbox: fails]. With submit-, poll-, download- or upscale- before it, a knob works
on those requests of a video only: [sandbox: poll-status=503, poll-fail-times=2, upscale-fails].
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
    const stop = stopSignal()
    const { paceMs, taskMs, ...faults } = parsed.knobs
    let server: ReturnType<typeof startSandbox>
    try {
      server = startSandbox({
        port: address.port,
        hostname: address.host,
        faults,
        ...(apiKey !== undefined && { apiKey }),
        // The pace may come as a knob too, but it is no fault: `fail-times` does not wear it out.
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
