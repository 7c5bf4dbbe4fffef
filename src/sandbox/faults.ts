/**
 * How to make the sandbox misbehave. Knobs reach it four ways, later ones winning knob by knob:
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
 * | `status`           | 400–599 | this status with the body a vendor would send                                     |
 * | `retryAfter`       | seconds | beside `status`: the `retry-after` header                                         |
 * | `delayMs`          | ms      | silence before the headers                                                        |
 * | `stallAfterEvents` | count   | a stream falls silent after this many events. 0: after a comment line, since the  |
 * |                    |         | runtime sends headers only together with the first bytes of a body                |
 * | `stallMs`          | ms      | how long it is silent, then it goes on; without it, until the client hangs up     |
 * | `cutAfterBytes`    | bytes   | the connection is reset after this many body bytes, without an end; 0: no answer  |
 * | `garbage`          | flag    | 200 with bytes that are no JSON, or a stream of junk events                       |
 * | `acceptThenClose`  | flag    | the request is read, then the connection is reset without an answer               |
 * | `emptyStream`      | flag    | 200 and a clean end, without any event (or any body)                              |
 * | `errorEvent`       | n       | the nth event (1 if just a flag) is `{"error":…}`, then the end without `[DONE]`  |
 * | `noUsage`          | flag    | no usage, even if asked for                                                       |
 * | `wrongUsage`       | flag    | usage whose total is not the sum of its parts                                     |
 * | `noDone`           | flag    | a stream without `[DONE]`                                                         |
 * | `failTimes`        | count   | the other knobs work for the first n requests that carry exactly these knobs      |
 * | `paceMs`, `pace`   | ms      | no fault: time between two events of a stream; not subject to `failTimes`         |
 *
 * Names may be written in kebab-case; a flag is set by its name alone. An unknown knob or a value it cannot have is an
 * error that names it: a test must not pass because its fault was misspelt.
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
  failTimes?: number
}

export type Knobs = Faults & { paceMs?: number }
export type ParsedKnobs = { kind: 'knobs'; knobs: Knobs } | { kind: 'refused'; message: string }

type NumberRule = { kind: 'number'; min: number; max: number; whenFlag?: number }
type FlagRule = { kind: 'flag' }
type RuleFor<Value> = Value extends boolean ? FlagRule : NumberRule

const FLAG: FlagRule = { kind: 'flag' }
const DAY_MS = 86_400_000

const RULES: { [Name in keyof Required<Knobs>]: RuleFor<Required<Knobs>[Name]> } = {
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
  failTimes: { kind: 'number', min: 0, max: 1e9 },
  paceMs: { kind: 'number', min: 0, max: DAY_MS },
}

/** Reads the spelling of headers and model names: `status=429,retry-after=2!no-done`. */
export function parseKnobText(text: string): ParsedKnobs {
  const knobs: Record<string, unknown> = {}
  for (const part of text.split(/[,!]/)) {
    const [name = '', value = 'true'] = part.split('=', 2).map((side) => side.trim())
    if (name !== '') knobs[name] = valueOf(value)
  }
  return parseKnobs(knobs)
}

/** Reads the JSON of `POST /sandbox/faults`. */
export function parseKnobs(value: unknown): ParsedKnobs {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { kind: 'refused', message: 'Faults are a JSON object of knobs, such as {"status": 429}.' }
  }
  const knobs: Record<string, number | boolean> = {}
  for (const [written, wanted] of Object.entries(value)) {
    const name = nameOf(written)
    if (!isKnob(name)) {
      return { kind: 'refused', message: `Unknown fault knob '${written}'. Known: ${Object.keys(RULES).join(', ')}.` }
    }
    const checked = check(RULES[name], wanted)
    if (checked === undefined) {
      return { kind: 'refused', message: `Fault knob '${written}' takes ${describe(RULES[name])}.` }
    }
    knobs[name] = checked
  }
  return { kind: 'knobs', knobs }
}

function valueOf(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^\d+$/.test(text) ? Number(text) : text
}

function nameOf(written: string): string {
  const camel = written.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  return camel === 'pace' ? 'paceMs' : camel
}

function isKnob(name: string): name is keyof Knobs {
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
