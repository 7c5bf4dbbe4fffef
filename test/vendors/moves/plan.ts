/** The plan of a random conversation as plain data. It can be printed, repeated and shortened. */
import { clientDialects, type ClientDialect } from '../../../src/domain/turn.ts'
import { Chooser } from '../../support/random.ts'

export type PlannedTool = { readonly name: string; readonly kind: 'function' | 'custom' }
export type PlannedCall = {
  /** Which of the tools. */
  readonly tool: number
  /** JSON text, or what a custom tool is given. */
  readonly args: string
  readonly result: PlannedResult | undefined
}
/** `structured`: as an object where the client's dialect has one for it. */
export type PlannedResult = {
  readonly words: string
  /** A value as JSON text. */
  readonly next: string
  readonly picture: boolean
  readonly isError: boolean
  readonly structured: boolean
}
export type PlannedTurn = {
  /** Said before the vendor is asked, behind the results of its calls. */
  readonly system: string | undefined
  readonly user: string | undefined
  readonly pictures: number
  /** By places among the calls: in which order their results are sent. */
  readonly order: readonly number[]
  /** An index into the vendors. */
  readonly vendor: number
  readonly mode: 'whole' | 'stream' | 'collected'
  readonly ids: IdStyle
  readonly answer: { readonly thought: string; readonly text: string; readonly calls: readonly PlannedCall[] }
  /** The client's own wishes. */
  readonly effort: (typeof efforts)[number]
  readonly sampling: boolean
  /** How the stream is cut. */
  readonly cut: number
}
export type Plan = {
  readonly client: ClientDialect
  readonly system: string | undefined
  readonly tools: readonly PlannedTool[]
  readonly isStructured: boolean
  /** Keeps nothing but what it knows: thoughts and fields that are not of the format are lost. */
  readonly forgets: boolean
  /** Of clients of responses: the gateway keeps the conversation. */
  readonly isKept: boolean
  readonly turns: readonly PlannedTurn[]
}

/** Ids of calls, as vendors make them. */
const idStyles = ['plain', 'counted', 'counted', 'kimi', 'long', 'odd', 'same', 'none'] as const
export type IdStyle = (typeof idStyles)[number]
export const efforts = [undefined, undefined, 'none', 'low', 'medium', 'high', 'xhigh'] as const

type Vendors = readonly (readonly number[])[]

const words = [
  'Plain words.',
  'Grüße, 漢字 and 👩‍👩‍👧.',
  'Two\nlines "quoted" \\ and {"a":1}.',
  'data: no event\n\nevent: none',
  'x'.repeat(70),
]
/** Digits that no number of JavaScript holds, and spellings that none keeps. */
const values = [
  '9007199254740993',
  '1.0',
  '1e3',
  '-0',
  '0.10',
  '12345678901234567890',
  '"1.0"',
  'null',
  '[1.0,{"x":2E2}]',
]
const freeTexts = ['*** Begin Patch\n+ "é" \\n\n*** End', '{"input":"no"}', 'SELECT 1', '👍']

const PLAIN_NAMES = ['look', 'read_file', 'a', 'mcp__github__list_pull_requests', 'structured_answer']
const LONG_NAME = `mcp__plugin_code-analysis_claudemem__${'long_'.repeat(14)}`
/** What each dialect lets its clients call a tool. */
const namesOf: Readonly<Record<ClientDialect, readonly string[]>> = {
  chat: [...PLAIN_NAMES, '3d-view', LONG_NAME.slice(0, 64)],
  responses: [...PLAIN_NAMES, '3d-view', LONG_NAME.slice(0, 64)],
  messages: [...PLAIN_NAMES, '3d-view', LONG_NAME, `${LONG_NAME}2`],
  gemini: [...PLAIN_NAMES, 'files.read:all', `server.${'deep.'.repeat(10)}x`],
}

/** `vendors`: those of each kind, which are asked as often as those of another. */
export function planOf(seed: number, vendors: Vendors): Plan {
  const choose = new Chooser(seed)
  const client = choose.pick(clientDialects)
  const takesFreeText = client === 'responses' || client === 'chat'
  const tools = choose
    .shuffled(namesOf[client])
    .slice(0, choose.upTo(3))
    .map((name): PlannedTool => ({ name, kind: takesFreeText && choose.chance(0.3) ? 'custom' : 'function' }))
  return {
    client,
    system: choose.chance(0.7) ? choose.pick(words) : undefined,
    tools,
    isStructured: choose.chance(0.15),
    forgets: choose.chance(0.15),
    isKept: client === 'responses' && choose.chance(0.3),
    turns: turnsOf(choose, tools, vendors),
  }
}

/** Some answers come from the vendor of the one before. */
function turnsOf(choose: Chooser, tools: readonly PlannedTool[], vendors: Vendors): PlannedTurn[] {
  const turns = Array.from({ length: 2 + choose.upTo(3) }, () => turnOf(choose, tools, vendors))
  for (const [i, turn] of turns.entries()) {
    const before = turns[i - 1]
    if (before && choose.chance(0.3)) turns[i] = { ...turn, vendor: before.vendor }
  }
  return turns
}

function turnOf(choose: Chooser, tools: readonly PlannedTool[], vendors: Vendors): PlannedTurn {
  const isCalling = tools.length > 0 && choose.chance(0.65)
  const calls = isCalling ? Array.from({ length: 1 + choose.upTo(2) }, () => callOf(choose, tools)) : []
  return {
    system: choose.chance(0.1) ? choose.pick(words) : undefined,
    user: choose.chance(0.3) ? choose.pick(words) : undefined,
    pictures: choose.chance(0.15) ? 1 + choose.upTo(1) : 0,
    order: choose.shuffled([0, 1, 2]),
    vendor: choose.pick(choose.pick(vendors)),
    mode: choose.pick(['whole', 'stream', 'stream', 'collected']),
    ids: choose.pick(idStyles),
    answer: {
      thought: choose.chance(0.5) ? choose.pick(words) : '',
      text: calls.length === 0 || choose.chance(0.4) ? choose.pick(words) : '',
      calls,
    },
    effort: choose.pick(efforts),
    sampling: choose.chance(0.3),
    cut: choose.upTo(2 ** 30),
  }
}

function callOf(choose: Chooser, tools: readonly PlannedTool[]): PlannedCall {
  const tool = choose.upTo(tools.length - 1)
  const members = Array.from({ length: choose.upTo(2) }, (_, i) => `"k${i}":${choose.pick(values)}`)
  const result = {
    words: choose.pick(words),
    next: choose.pick(values),
    picture: choose.chance(0.1),
    isError: choose.chance(0.1),
    structured: choose.chance(0.3),
  }
  return {
    tool,
    args: tools[tool]?.kind === 'custom' ? choose.pick(freeTexts) : `{${members.join(',')}}`,
    result: choose.chance(0.95) ? result : undefined,
  }
}
