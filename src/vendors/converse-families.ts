/**
 * What the families of models on Amazon Bedrock take of its Converse format, as data. The first row whose expression
 * matches the model's name counts. A field that a model refuses ("This model doesn't support the … field") is left out
 * and named. Read on 2026-11-26 in these sources:
 *
 * - the service model of bedrock-runtime, 2023-09-30: https://github.com/boto/botocore (2026-08-07)
 * - https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html
 * - tool choices, streams with tools, cache points, efforts, structured output: `bedrock_converse.py`, `utils.py` and
 *   `data/_profiles.py` of https://github.com/langchain-ai/langchain-aws (2026-08-20)
 * - tools that do not stream: https://github.com/earendil-works/pi/issues/3739
 * - text beside tool blocks: https://github.com/strands-agents/harness-sdk/issues/1223
 * - schemas of Nova's tools: https://github.com/zed-industries/zed/issues/28521
 * - efforts of Nova 2: https://github.com/UKGovernmentBEIS/inspect_ai/issues/3767 and …/issues/5301
 * - structured output: https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html
 */
import type { Effort } from '../domain/turn.ts'

export type ConverseFamily = {
  /** Matches the name of a model, in small letters. */
  readonly names: RegExp
  /** Whose rules hold beside these: those of `claude-families.ts`. */
  readonly isClaude?: true
  /** The values of `toolChoice` beside `auto`. */
  readonly choices: readonly ('any' | 'tool')[]
  /** Whether a request with tools may ask for a stream. */
  readonly streamsTools: boolean
  /** Whether text may stand beside calls, or beside results, in one message. */
  readonly mixesBlocks: boolean
  /** Whether results of tools have a status, images and documents. */
  readonly richResults: boolean
  /** Where cache points are taken. */
  readonly cachePoints: 'everywhere' | 'not_beside_tools' | 'nowhere'
  /** Whether thoughts are signed, and wanted back. */
  readonly signsThoughts: boolean
  readonly system: boolean
  /** Whether `outputConfig.textFormat` and strict tools are taken. */
  readonly schemas: boolean
  /** The root of a tool's schema: any, or one with nothing but `type`, `properties` and `required`. */
  readonly toolSchemas: 'any' | 'plain_root'
  /** The place of top_k in `additionalModelRequestFields`. */
  readonly topK?: readonly [name: string, inner?: string]
  /** How an effort is sent, and the levels that there are, lowest first. */
  readonly effort?: { readonly as: 'reasoning_effort' | 'reasoningConfig'; readonly levels: readonly Effort[] }
}

/** A model without a row, such as an application inference profile: only what every model takes. */
const other: ConverseFamily = {
  names: /(?:)/,
  choices: [],
  streamsTools: false,
  mixesBlocks: false,
  richResults: false,
  cachePoints: 'nowhere',
  signsThoughts: false,
  system: true,
  schemas: false,
  toolSchemas: 'any',
}
const claude: ConverseFamily = {
  ...other,
  names: /claude/,
  isClaude: true,
  streamsTools: true,
  mixesBlocks: true,
  choices: ['any', 'tool'],
  richResults: true,
  cachePoints: 'everywhere',
  signsThoughts: true,
  schemas: true,
  topK: ['top_k'],
}
const nova: ConverseFamily = {
  ...other,
  names: /\bnova-/,
  streamsTools: true,
  mixesBlocks: true,
  choices: ['any', 'tool'],
  richResults: true,
  cachePoints: 'not_beside_tools',
  toolSchemas: 'plain_root',
  topK: ['inferenceConfig', 'topK'],
}
const open: ConverseFamily = {
  ...other,
  names: /gemma|nemotron|glm-|grok-|qwen/,
  streamsTools: true,
  mixesBlocks: true,
  schemas: true,
}

const families: readonly ConverseFamily[] = [
  { ...claude, names: /opus-4-1\b/, schemas: false },
  claude,
  // The effort `high` forbids an output limit, which bounds the cost.
  { ...nova, names: /\bnova-2-/, effort: { as: 'reasoningConfig', levels: ['low', 'medium'] } },
  nova,
  // Models behind a prompt template of Amazon's.
  { ...other, names: /llama|jamba|palmyra/ },
  { ...other, names: /titan|mistral-7b|mixtral/, system: false },
  { ...other, names: /mistral-large-24/, choices: ['any'], topK: ['top_k'] },
  { ...other, names: /mistral-small-24|pixtral/, topK: ['top_k'] },
  { ...other, names: /command-r/, streamsTools: true, topK: ['k'] },
  { ...open, names: /mistral|magistral|ministral|devstral|voxtral/, streamsTools: false },
  { ...other, names: /deepseek\.r1/ },
  { ...open, names: /deepseek\.v3-v1/, choices: ['any'] },
  { ...open, names: /deepseek/, choices: ['any', 'tool'] },
  { ...open, names: /gpt-oss/, effort: { as: 'reasoning_effort', levels: ['low', 'medium', 'high'] } },
  { ...open, names: /kimi/, effort: { as: 'reasoning_effort', levels: ['low', 'high', 'max'] } },
  { ...open, names: /minimax/, schemas: false },
  open,
]

/**
 * An ARN may not name its model. What follows a `#` in the id of an upstream model names it for these rules, and is not
 * sent: `arn:aws:bedrock:…:application-inference-profile/a1b2#anthropic.claude-sonnet-4-5`.
 */
export function converseModelOf(upstreamModel: string): { readonly id: string; readonly name: string } {
  const at = upstreamModel.indexOf('#')
  const id = at === -1 ? upstreamModel : upstreamModel.slice(0, at)
  return { id, name: upstreamModel.slice(at + 1).toLowerCase() }
}

/** The family of a model by its name in small letters. */
export const converseFamilyOf = (name: string): ConverseFamily =>
  families.find(({ names }) => names.test(name)) ?? other

const order: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The nearest level that there is: the next higher one, or the highest. */
export const nearestEffort = (effort: Effort, levels: readonly Effort[]): Effort | undefined =>
  levels.find((level) => order.indexOf(level) >= order.indexOf(effort)) ?? levels.at(-1)
