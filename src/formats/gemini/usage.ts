/** Usage of Gemini's API in disjoint buckets. This is the only place that builds one from its wire fields. */
import { estimatedUsage } from '../core/usage-estimate.ts'
import { inputTokens, outputTokens, type Usage } from '../../domain/usage.ts'
import { asFields, asList } from '../core/fields.ts'
import { tokenCount } from '../core/token-count.ts'
import type { MeteredUsage, InlineImages } from '../core/contract.ts'

/** The JSON of protocol buffers writes some whole numbers as strings. */
const countIn = (value: unknown): number | undefined =>
  tokenCount(typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value)

type Kind = { readonly modality: unknown; readonly tokens: number }

/** The counts by modality in a list. */
const kindsIn = (details: unknown): Kind[] =>
  asList(details)
    .map(asFields)
    .flatMap(({ modality, tokenCount: stated }) => {
      const tokens = countIn(stated)
      return tokens === undefined ? [] : [{ modality, tokens }]
    })

const isImage = ({ modality }: Kind): boolean => modality === 'IMAGE'
const isText = ({ modality }: Kind): boolean => modality === 'TEXT'
const sumOf = (kinds: readonly Kind[]): number => kinds.reduce((sum, { tokens }) => sum + tokens, 0)
const imageTokensIn = (kinds: readonly Kind[]): number => sumOf(kinds.filter(isImage))

/** The tokens of images in an answer of so many tokens. Undefined if the modalities are not told apart. */
function paintedTokens(details: unknown, all: number): number | undefined {
  const kinds = kindsIn(details).filter(({ tokens }) => tokens > 0)
  const isTold = kinds.some(isImage) || (kinds.length > 0 && kinds.every(isText) && sumOf(kinds) === all)
  return isTold ? Math.min(imageTokensIn(kinds), all) : undefined
}

/**
 * Reads a `usageMetadata` object. promptTokenCount includes cached tokens. Tokens of tools are added to it, and
 * thoughts are added to the candidates. The API leaves out zeros. Without candidatesTokenCount the stated total gives
 * the number, and without a total nothing does. Undefined means unknown, never zero.
 */
export function readGeminiUsage(raw: unknown): Usage | undefined {
  const usage = asFields(raw)
  const prompt = countIn(usage['promptTokenCount'])
  if (prompt === undefined) return undefined
  const thoughts = countIn(usage['thoughtsTokenCount']) ?? 0
  const byTools = countIn(usage['toolUsePromptTokenCount']) ?? 0
  const total = countIn(usage['totalTokenCount'])
  const rest = total === undefined ? undefined : countIn(total - prompt - byTools - thoughts)
  const candidates = usage['candidatesTokenCount'] === undefined ? rest : countIn(usage['candidatesTokenCount'])
  if (candidates === undefined) return undefined
  const inputCached = Math.min(countIn(usage['cachedContentTokenCount']) ?? 0, prompt)
  // Cached image tokens count as cached input. No vendor prices them separately.
  const freshImages =
    imageTokensIn(kindsIn(usage['promptTokensDetails'])) - imageTokensIn(kindsIn(usage['cacheTokensDetails']))
  const inputImage = Math.min(Math.max(freshImages, 0), prompt - inputCached)
  const outputImage = paintedTokens(usage['candidatesTokensDetails'], candidates)
  return {
    inputFresh: prompt - inputCached - inputImage + byTools,
    inputCached,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    outputText: candidates - (outputImage ?? 0),
    outputReasoning: thoughts,
    ...(inputImage > 0 && { inputImage }),
    ...(outputImage !== undefined && { outputImage }),
  }
}

type ToPaint = InlineImages & {
  /** The tokens of one image of the requested size. */
  readonly imageTokens: number
  /** Whether an upstream reported tokens of the answer, possibly including those of images. */
  readonly isReported: boolean
  /** The reported text tokens that were set aside for images. */
  readonly setAside: number
  /** The output tokens of the hold, one image at least. Counts of the gateway never exceed it. */
  readonly outputTokensMax: number
  /** Whether text came with the images, or instead of them. */
  readonly hasWords: boolean
}

/**
 * The usage of a turn that may contain images. The text and every image that can be decoded are charged. If the vendor
 * sent neither, nothing is charged. If it does not tell images and text apart, images count as its documentation says.
 */
export function paintedUsage({ usage, source }: MeteredUsage, to: ToPaint): MeteredUsage {
  const { images, spoiled, endedBy, imageTokens, isReported, setAside, outputTokensMax, hasWords } = to
  if (images === 0 && !hasWords && endedBy === 'vendor') return { usage: estimatedUsage(0, 0), source: 'reported' }
  const all = images + spoiled
  // A report of no image tokens is not believed if images came.
  const believed = usage.outputImage || undefined
  const needed = all * imageTokens
  const room = Math.max(outputTokensMax - usage.outputText - usage.outputReasoning, setAside)
  // A report with modalities and without image tokens counts text only. The exception is a report whose text has more
  // room for the images than the rest.
  const isApart = usage.outputImage !== undefined && (needed <= room || usage.outputText <= room)
  const isMixed = isReported && believed === undefined && !isApart
  const whole = believed ?? Math.min(needed, isMixed ? usage.outputText : room)
  const outputImage = all === 0 ? 0 : Math.ceil((whole * images) / all)
  const outputText = isMixed ? usage.outputText - whole : usage.outputText
  const painted = { ...usage, outputText, outputImage }
  return { usage: painted, source: believed === undefined && all > 0 ? 'estimated' : source }
}

/** Writes a usage as a `usageMetadata` object, in JSON. */
export function writeGeminiUsage(usage: Usage): string {
  return JSON.stringify({
    promptTokenCount: inputTokens(usage),
    candidatesTokenCount: usage.outputText + (usage.outputImage ?? 0),
    totalTokenCount: inputTokens(usage) + outputTokens(usage),
    cachedContentTokenCount: usage.inputCached,
    thoughtsTokenCount: usage.outputReasoning,
    ...(usage.outputImage && { candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: usage.outputImage }] }),
  })
}

/**
 * The text that must replace an upstream's usageMetadata so that the total is the sum of its parts. Undefined if the
 * object may stay byte for byte.
 */
export function correctedGeminiUsage(raw: unknown, usage: Usage): string | undefined {
  const totalTokenCount = inputTokens(usage) + outputTokens(usage)
  const fields = asFields(raw)
  return fields['totalTokenCount'] === totalTokenCount ? undefined : JSON.stringify({ ...fields, totalTokenCount })
}
