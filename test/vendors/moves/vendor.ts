/** Vendors of random conversations: the strict fakes, called in this process. */
import { dialects, type Dialect } from '../../../src/domain/turn.ts'
import type { Destination, UpstreamRequest, WriterQuirks } from '../../../src/formats/core/contract.ts'
import { parseExact } from '../../../src/lib/json/exact-json.ts'
import { findPreset } from '../../../src/vendors/presets.ts'
import { rulesFor } from '../../../src/vendors/fit.ts'
import { Chooser } from '../../support/random.ts'
import { Raw, written, type Call, type VendorAnswer } from '../answers.ts'
import { profiles, type Profile } from '../fake.ts'
import { vertexContents } from '../refusals.ts'
import { fieldsOf, seenBy, type Fields, type SeenRequest } from '../seen.ts'
import type { IdStyle, Plan, PlannedTurn } from './plan.ts'
import { violated } from './truth.ts'

export type Vendor = Profile & {
  /** Whose seals it takes: those of its dialect, or of its account alone. */
  readonly maker: string
  readonly dialects: readonly Dialect[]
  readonly quirks: WriterQuirks
}

const vertex: Profile = {
  preset: 'vertex',
  base: '/v1',
  model: 'gemini-3-pro-preview',
  checks: { gemini: vertexContents },
}

export const vendors: readonly Vendor[] = [...profiles, vertex].map((profile) => {
  const preset = findPreset(profile.preset)
  if (!preset) throw new Error(`no preset ${profile.preset}`)
  return {
    ...profile,
    maker: makerOf(profile),
    dialects: preset.dialects,
    quirks: { ...preset.quirks, account: profile.preset, rules: rulesFor(profile.preset, profile.model) },
  }
})

function makerOf({ preset, model, checks }: Profile): string {
  if ('responses' in checks) return preset
  // Bedrock serves the models of many makers.
  return 'converse' in checks ? model : (Object.keys(checks).at(-1) ?? '')
}

const placesOf = (isOne: (vendor: Vendor) => boolean): readonly number[] =>
  vendors.flatMap((vendor, i) => (isOne(vendor) ? [i] : []))

/** Their indexes: of those of each dialect, and of those that want their thoughts back. */
export const kindsOfVendors: readonly (readonly number[])[] = [
  ...dialects.map((dialect) => placesOf(({ checks }) => Object.keys(checks).includes(dialect))),
  placesOf(({ quirks }) => quirks.rules?.some(({ takes }) => takes === 'thoughts') ?? false),
]

export const destinationOf = ({ model, quirks }: Vendor, outputTokensMax: number | undefined): Destination => ({
  upstreamModel: model,
  outputTokensMax,
  modelOutputTokensMax: 64_000,
  quirks,
})

export type Request = { readonly dialect: Dialect; readonly body: Fields; readonly seen: SeenRequest }

/** What a vendor makes of a request. Throws where it refuses it. */
export function received(vendor: Vendor, dialect: Dialect, { body: text, path }: UpstreamRequest): Request {
  const body = fieldsOf(JSON.parse(text))
  const seen = seenBy[dialect](fieldsOf(parseExact(text)))
  const check = vendor.checks[dialect] ?? violated(`${vendor.preset} does not speak ${dialect}`)
  const refusal = check({ body, seen, model: vendor.model, path })
  if (refusal) violated(`${vendor.preset} ${vendor.model} refuses: ${JSON.stringify(refusal.body)}`)
  return { dialect, body, seen }
}

export type VendorReply = {
  readonly said: VendorAnswer
  readonly whole: string
  readonly stream: string | Uint8Array
}
export type VendorAsk = {
  readonly vendor: Vendor
  readonly request: Request
  readonly turn: PlannedTurn
  readonly plan: Plan
}

/** The planned answer, as this vendor gives it to this request. */
export function answer(
  { vendor, request, turn, plan }: VendorAsk,
  texts: Pick<VendorAnswer, 'thought' | 'text' | 'seal'>,
): VendorReply {
  const { dialect, seen } = request
  const { tools, customTools } = seen
  const choose = new Chooser(turn.cut)
  const calls = turn.answer.calls.map(({ tool, args }, i): Call => {
    const name = tools[tool] ?? violated(`it was not told of the tool ${tool}`)
    const id = idOf(vendor, dialect, { style: turn.ids, i, name, n: turn.cut })
    if (plan.tools[tool]?.kind !== 'custom') return { id, name, args }
    return customTools.includes(name)
      ? { id, name, args, kind: 'custom' }
      : { id, name, args: JSON.stringify({ input: args }) }
  })
  // Where there is no other way the answer is a tool, which is forced.
  const isByTool = tools.length > plan.tools.length
  const only = { id: 'toolu_answer', name: tools.at(-1) ?? '', args: texts.text }
  const thought = mayThink(request) && !isByTool ? texts.thought : ''
  const said: VendorAnswer = {
    ...texts,
    thought,
    calls,
    ...(isByTool ? (calls.length > 0 ? { text: '', calls: calls.slice(0, 1) } : { text: '', calls: [only] }) : {}),
    cut: (text) => choose.cut(text).filter((piece) => piece !== ''),
  }
  const { whole, stream } = written[dialect](said)
  return { said, whole: whole instanceof Raw ? whole.text : JSON.stringify(whole), stream }
}

/** Whether the vendor tells what it thinks. */
function mayThink({ dialect, body }: Request): boolean {
  const isThinking = (fields: Fields): boolean =>
    ['enabled', 'adaptive'].includes(String(fieldsOf(fields['thinking'])['type']))
  if (dialect === 'messages') return isThinking(body)
  if (dialect === 'converse') return isThinking(fieldsOf(body['additionalModelRequestFields']))
  if (dialect !== 'gemini') return true
  return fieldsOf(fieldsOf(body['generationConfig'])['thinkingConfig'])['includeThoughts'] === true
}

type Naming = { readonly style: IdStyle; readonly i: number; readonly name: string; readonly n: number }

/** Ids as a vendor makes them; the ways of the ones that make what they like. */
function idOf({ preset }: Vendor, dialect: Dialect, { style, i, name, n }: Naming): string {
  if (preset === 'vertex') return ''
  if (dialect === 'gemini') return style === 'none' ? '' : `${n}-${i}`
  if (preset === 'mistral') return `${String(n).slice(0, 7).padStart(7, 'a')}0${i}`
  if (preset === 'anthropic') return `toolu_${n}_${i}`
  if (preset === 'openai' || preset === 'azure') return `call_${n}_${i}`
  if (dialect !== 'chat' && (style === 'same' || style === 'none')) return `call_${i}`
  switch (style) {
    case 'plain':
      return `call_${n}_${i}`
    case 'counted':
      return `call_${i}`
    case 'kimi':
      return `functions.${name.slice(0, 20)}:${i}`
    case 'long':
      return `call_${'long'.repeat(12)}${n % 1000}${i}`
    case 'odd':
      return `ü/ id:${i}`
    case 'same':
      return 'call_same'
    case 'none':
      return ''
  }
}
