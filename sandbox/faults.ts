import { DAY_MS } from '../src/lib/primitives/units.ts'

/**
 * How to make the sandbox fail on demand. Knobs come in four ways. For each knob, the later way takes precedence:
 * the `faults` option · `POST /sandbox/faults` (JSON, replaces the option) · the model name · request headers.
 *
 * ```
 * POST /sandbox/faults        {"status": 429, "retryAfter": 2}
 * model                       sandbox-chat!status=500,failTimes=1      (further knobs after `,` or `!`)
 * x-sandbox-fault             status=429,retry-after=2
 * x-sandbox-pace-ms           20
 * ```
 *
 * | knob               | value   | what happens                                                                      |
 * | ------------------ | ------- | --------------------------------------------------------------------------------- |
 * | `status`           | 400–599 | this status with the body that a vendor would send                                |
 * | `retryAfter`       | seconds | with `status`: the `retry-after` header                                           |
 * | `delayMs`          | ms      | silence before the headers                                                        |
 * | `stallAfterEvents` | count   | a stream falls silent after this many events. 0: after a comment line, since the  |
 * |                    |         | runtime sends headers only together with the first bytes of a body                |
 * | `stallMs`          | ms      | the time of that silence; without it, until the client hangs up                   |
 * | `cutAfterBytes`    | bytes   | the connection is reset after this many body bytes, without an end; 0: no answer  |
 * | `garbage`          | flag    | 200 with bytes that are no JSON, or a stream of junk events                       |
 * | `acceptThenClose`  | flag    | the request is read, then the connection is reset without an answer               |
 * | `emptyStream`      | flag    | 200 and a clean end, without any event (or any body)                              |
 * | `errorEvent`       | n       | the nth event (1 if just a flag) is `{"error":…}`, then the end without `[DONE]`  |
 * | `noUsage`          | flag    | no usage, even if asked for                                                       |
 * | `wrongUsage`       | flag    | usage whose total is not the sum of its parts                                     |
 * | `noDone`           | flag    | a stream without `[DONE]`                                                         |
 * | `answerLost`       | flag    | the request is carried out, then the connection is reset without an answer        |
 * | `wrongType`        | flag    | a file is sent as `text/html`                                                     |
 * | `redirects`        | count   | the number of redirects before a video                                            |
 * | `failTimes`        | count   | the other knobs work for the first n requests that carry exactly these knobs      |
 * | `paceMs`, `pace`   | ms      | not a fault: time between two events of a stream; not subject to `failTimes`      |
 *
 * The end of a video, set when it is created:
 *
 * | knob               | value   | what happens                                                                      |
 * | ------------------ | ------- | --------------------------------------------------------------------------------- |
 * | `taskMs`           | ms      | not a fault: the time that it takes                                               |
 * | `fails`            | flag    | it fails, although the request is valid                                           |
 * | `filtered`         | flag    | it fails because of its content                                                   |
 * | `expires`          | flag    | it ends as expired                                                                |
 * | `cancels`          | flag    | it ends as cancelled                                                              |
 * | `hangs`            | flag    | it runs and never ends                                                            |
 * | `lost`             | n       | from the nth poll on (1 if just a flag), the task does not exist                  |
 * | `linkMs`           | ms      | the time that its link is valid (default: a day); a later poll has a new link     |
 * | `deadLinks`        | count   | this number of its links are dead before they are used (1 if just a flag)         |
 *
 * The prefixes `submit-`, `poll-` and `download-` limit a knob to those requests of a video. The prefix `upscale-`,
 * also before these, limits it to the requests of its super-resolution. Knobs with a prefix in the model name or in a
 * note of the prompt apply to all later requests of the video, and each video counts its own `failTimes`. A knob
 * without a prefix works only on the creation.
 *
 * ```
 * A red ball [sandbox: poll-status=503, poll-fail-times=2, upscale-fails]
 * ```
 *
 * Names may be in kebab-case. The name alone sets a flag. An unknown knob or an invalid value is an error that names
 * it, so that no test passes because of a misspelled fault.
 */
export type Faults = {
  status?: number
  retryAfter?: number
  delayMs?: number
  stallAfterEvents?: number
  stallMs?: number
  cutAfterBytes?: number
  garbage?: boolean
  acceptThenClose?: boolean
  emptyStream?: boolean
  errorEvent?: number
  noUsage?: boolean
  wrongUsage?: boolean
  noDone?: boolean
  answerLost?: boolean
  wrongType?: boolean
  redirects?: number
  fails?: boolean
  filtered?: boolean
  expires?: boolean
  cancels?: boolean
  hangs?: boolean
  lost?: number
  linkMs?: number
  deadLinks?: number
  failTimes?: number
}

/** The requests in the life of a video. */
const STEPS = ['submit', 'poll', 'download', 'upscale'] as const
export type FaultStep = (typeof STEPS)[number]

type PlainKnobs = Faults & { paceMs?: number; taskMs?: number }
export type Knobs = PlainKnobs & { [S in FaultStep]?: Knobs }
export type ParsedKnobs = { kind: 'knobs'; knobs: Knobs } | { kind: 'refused'; message: string }

type NumberRule = { kind: 'number'; min: number; max: number; whenFlag?: number }
type FlagRule = { kind: 'flag' }
type RuleFor<Value> = Value extends boolean ? FlagRule : NumberRule

const FLAG: FlagRule = { kind: 'flag' }

const RULES: { [Name in keyof Required<PlainKnobs>]: RuleFor<Required<PlainKnobs>[Name]> } = {
  status: { kind: 'number', min: 400, max: 599 },
  retryAfter: { kind: 'number', min: 0, max: 86_400 },
  delayMs: { kind: 'number', min: 0, max: DAY_MS },
  stallAfterEvents: { kind: 'number', min: 0, max: 1e9 },
  stallMs: { kind: 'number', min: 0, max: DAY_MS },
  cutAfterBytes: { kind: 'number', min: 0, max: 1e12 },
  garbage: FLAG,
  acceptThenClose: FLAG,
  emptyStream: FLAG,
  errorEvent: { kind: 'number', min: 1, max: 1e9, whenFlag: 1 },
  noUsage: FLAG,
  wrongUsage: FLAG,
  noDone: FLAG,
  answerLost: FLAG,
  wrongType: FLAG,
  redirects: { kind: 'number', min: 0, max: 100 },
  fails: FLAG,
  filtered: FLAG,
  expires: FLAG,
  cancels: FLAG,
  hangs: FLAG,
  lost: { kind: 'number', min: 1, max: 1e9, whenFlag: 1 },
  linkMs: { kind: 'number', min: 0, max: DAY_MS },
  deadLinks: { kind: 'number', min: 0, max: 1e9, whenFlag: 1 },
  failTimes: { kind: 'number', min: 0, max: 1e9 },
  paceMs: { kind: 'number', min: 0, max: DAY_MS },
  taskMs: { kind: 'number', min: 0, max: DAY_MS },
}

/** The knobs that work on a request: the general ones, and those of its steps. */
export const knobsAt = (knobs: Knobs, steps: readonly FaultStep[]): Knobs =>
  steps.reduce((flat, step) => ({ ...flat, ...flat[step] }), knobs)

/** The knobs that apply to the later requests of a task. */
export function laterKnobs({ taskMs, poll, download, upscale }: Knobs): Knobs {
  return defined({ taskMs, poll, download, upscale })
}

/** The knobs that `failTimes` does not count. */
export const lastingKnobs = (knobs: Knobs): Knobs => ({ ...laterKnobs(knobs), ...defined({ paceMs: knobs.paceMs }) })

function defined<T extends object>(value: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof T]?: NonNullable<T[Name]> }
}

/** Reads knobs as written in headers and model names: `status=429,retry-after=2!no-done`. */
export function parseKnobText(text: string): ParsedKnobs {
  const pairs = text.split(/[,!]/).flatMap((part) => {
    const [name = '', value = 'true'] = part.split('=', 2).map((side) => side.trim())
    return name === '' ? [] : [[name, valueOf(value)] as const]
  })
  return parseKnobs(Object.fromEntries(pairs))
}

/** Reads the JSON of `POST /sandbox/faults`. */
export function parseKnobs(value: unknown): ParsedKnobs {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { kind: 'refused', message: 'Faults are a JSON object of knobs, such as {"status": 429}.' }
  }
  const knobs: Knobs = {}
  for (const [written, wanted] of Object.entries(value)) {
    const complaint = put(knobs, written, wanted)
    if (complaint !== undefined) return { kind: 'refused', message: complaint }
  }
  return { kind: 'knobs', knobs }
}

/** Sets a knob, or returns the reason why it cannot be set. */
function put(knobs: Knobs, written: string, wanted: unknown): string | undefined {
  let at = knobs
  let name = nameOf(written)
  for (let steps: readonly FaultStep[] = STEPS; ;) {
    const step = steps.find((one) => new RegExp(`^${one}[A-Z]`).test(name))
    if (step === undefined) break
    at = at[step] ??= {}
    name = nameOf(name.slice(step.length).replace(/^[A-Z]/, (letter) => letter.toLowerCase()))
    steps = step === 'upscale' ? STEPS.filter((one) => one !== 'upscale') : []
  }
  if (!isKnob(name)) {
    return `Unknown fault knob '${written}'. Known: ${Object.keys(RULES).join(', ')}, also after ${STEPS.join(', ')}.`
  }
  const checked = check(RULES[name], wanted)
  if (checked === undefined) return `Fault knob '${written}' takes ${describe(RULES[name])}.`
  Object.assign(at, { [name]: checked })
  return undefined
}

function valueOf(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^\d+$/.test(text) ? Number(text) : text
}

function nameOf(written: string): string {
  const camel = written.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  return camel === 'pace' ? 'paceMs' : camel
}

function isKnob(name: string): name is keyof PlainKnobs {
  return Object.hasOwn(RULES, name)
}

function check(rule: NumberRule | FlagRule, value: unknown): number | boolean | undefined {
  if (rule.kind === 'flag') return typeof value === 'boolean' ? value : undefined
  const number = value === true ? rule.whenFlag : value
  if (typeof number !== 'number' || !Number.isInteger(number)) return undefined
  return number >= rule.min && number <= rule.max ? number : undefined
}

function describe(rule: NumberRule | FlagRule): string {
  return rule.kind === 'flag' ? 'true or false' : `a whole number from ${rule.min} to ${rule.max}`
}
