/**
 * bun tools/token-limits.ts MODELS_DEV LITELLM: writes tools/token-limits.json, which gives tools/price-list.ts the
 * longest input and output of a model. MODELS_DEV is a git directory of models.dev's repository that has the commit
 * below. LITELLM is the folder `litellm` of the unpacked Python package of the version below (`pip download --no-deps
 * litellm==VERSION`, then unzip). Only facts are taken, of models that the price list has.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePriceList } from './price-list.ts'

export const FILE = 'tools/token-limits.json'

const modelsDev = {
  home: 'https://github.com/anomalyco/models.dev',
  commit: 'f3fc692299671838c7c65fd8126bf84d81a2e817',
  date: '2026-07-01',
  licence: 'MIT',
}
const litellm = {
  home: 'https://github.com/BerriAI/litellm',
  version: '1.110.2',
  taken: '2026-11-25',
  licence: 'MIT',
}
const LITELLM_LIST = 'model_prices_and_context_window_backup.json'

/** The limits in a source, in tokens. `context` is input and output together, `input` the input alone. */
export type TokenLimits = {
  readonly context?: number
  readonly input?: number
  readonly output?: number
  /** Whether the model reasons before it answers. */
  readonly reasoning?: boolean
}

export type TokenLimitsFile = {
  readonly sources: { readonly modelsDev: typeof modelsDev; readonly litellm: typeof litellm }
  /** By preset and model. */
  readonly vendors: Readonly<
    Record<string, Readonly<Record<string, { readonly modelsDev?: TokenLimits; readonly litellm?: TokenLimits }>>>
  >
}

/** The sources' names for a preset's vendor, if they differ. */
const modelsDevNames: Readonly<Record<string, string>> = {
  gemini: 'google',
  together: 'togetherai',
  fireworks: 'fireworks-ai',
  moonshot: 'moonshotai',
  cloudflare: 'cloudflare-workers-ai',
}
const litellmPrefixes: Readonly<Record<string, string>> = {
  openai: '',
  anthropic: '',
  cohere: '',
  together: 'together_ai/',
  fireworks: 'fireworks_ai/',
}

/** Models that models.dev has under another id of the vendor. */
const aliases: Readonly<Record<string, string>> = {
  'grok-4-0709': 'grok-4',
  'grok-4-fast-reasoning': 'grok-4-fast',
  'grok-4-1-fast-reasoning': 'grok-4-1-fast',
}

function git(folder: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', ['-C', folder, ...args], { encoding: 'utf8' })
  return status === 0 ? stdout : undefined
}

type Toml = { readonly base_model?: string; readonly limit?: TokenLimits; readonly reasoning?: boolean }

/** The last version of a file. Vendors still serve models that models.dev has removed as outdated. */
function readToml(folder: string, path: string): Toml | undefined {
  const commit = git(folder, ['log', '-1', '--diff-filter=AMRT', '--format=%H', modelsDev.commit, '--', path])?.trim()
  const text = commit && git(folder, ['show', `${commit}:${path}`])
  return text ? Bun.TOML.parse(text) : undefined
}

const kept = ({ context, input, output, reasoning }: TokenLimits): TokenLimits => ({
  ...(context && { context }),
  ...(input && { input }),
  ...(output && { output }),
  ...(reasoning && { reasoning }),
})

function ofModelsDev(folder: string, preset: string, id: string): TokenLimits {
  const toml = readToml(folder, `providers/${modelsDevNames[preset] ?? preset}/models/${aliases[id] ?? id}.toml`)
  const base = toml?.base_model && readToml(folder, `models/${toml.base_model}.toml`)
  const reasoning = toml?.reasoning ?? (base ? base.reasoning : undefined)
  return kept({ ...(base && base.limit), ...toml?.limit, ...(reasoning && { reasoning }) })
}

type LitellmList = Readonly<
  Record<
    string,
    | { readonly max_input_tokens?: number; readonly max_output_tokens?: number; readonly supports_reasoning?: boolean }
    | undefined
  >
>

function ofLitellm(list: LitellmList, preset: string, upstreamModel: string): TokenLimits {
  const {
    max_input_tokens: input,
    max_output_tokens: output,
    supports_reasoning: reasoning,
  } = list[`${litellmPrefixes[preset] ?? `${preset}/`}${upstreamModel}`] ?? {}
  return kept({ ...(input && { input }), ...(output && { output }), ...(reasoning && { reasoning }) })
}

/** One model a line, so that a newer source shows as the models that changed. */
function write({ sources, vendors }: TokenLimitsFile): string {
  const blocks = Object.entries(vendors).map(([preset, models]) => {
    const lines = Object.entries(models).map(([id, facts]) => `      ${JSON.stringify(id)}: ${JSON.stringify(facts)}`)
    return `    ${JSON.stringify(preset)}: {\n${lines.join(',\n')}\n    }`
  })
  const heads = Object.entries(sources).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return `{\n  "sources": {\n${heads.join(',\n')}\n  },\n  "vendors": {\n${blocks.join(',\n')}\n  }\n}\n`
}

function make(modelsDevFolder: string, litellmFolder: string): TokenLimitsFile {
  const list = JSON.parse(readFileSync(join(litellmFolder, LITELLM_LIST), 'utf8')) as LitellmList
  const vendors = Object.entries(makePriceList().vendors).map(([preset, { models, upstreamPrefix = '' }]) => {
    const facts = Object.keys(models).flatMap((id) => {
      const found = {
        modelsDev: ofModelsDev(modelsDevFolder, preset, upstreamPrefix + id),
        litellm: ofLitellm(list, preset, upstreamPrefix + id),
      }
      const stated = Object.entries(found).filter(([, limits]) => Object.keys(limits).length > 0)
      return stated.length === 0 ? [] : [[id, Object.fromEntries(stated)] as const]
    })
    return [preset, Object.fromEntries(facts)] as const
  })
  return { sources: { modelsDev, litellm }, vendors: Object.fromEntries(vendors) }
}

if (import.meta.main) {
  const [modelsDevFolder, litellmFolder] = process.argv.slice(2)
  if (!modelsDevFolder || !litellmFolder) throw new Error('bun tools/token-limits.ts MODELS_DEV LITELLM')
  if (git(modelsDevFolder, ['cat-file', '-e', modelsDev.commit]) === undefined)
    throw new Error(`${modelsDevFolder} does not have the commit ${modelsDev.commit}`)
  await Bun.write(FILE, write(make(modelsDevFolder, litellmFolder)))
}
