/** Turns that are answered with a picture: thoughts, words, and the picture as a part of its own. */
import type { Choice } from '../chat/choice.ts'
import { repaint } from '../images/edits.ts'
import type { Canvas } from '../images/paint.ts'
import { atEasel, decode, encode, picture, resize } from '../images/picture.ts'
import { hashOf } from '../random.ts'
import { firstTokens, NO_WORDS } from '../tokens.ts'
import { ASPECT_RATIOS, IMAGE_SIZES, type SandboxGeminiRequest } from './request.ts'
import { signatureOfText } from './signature.ts'

/** Parts of an answer that are no words, and what they count. */
export type ImageParts = { parts: object[]; tokens: number }

export type PaintedAnswer = {
  choice: Choice
  /** What it tried while it thought: shown with the thoughts, and counted with them. */
  sketch: object
  painting: ImageParts | undefined
}

/** Google's models for pictures think before each. */
const REASONING_TOKENS = 24
const GRID = 16

/** Sides of about the same area whatever the ratio, in whole blocks of pixels. */
function sidesOf({ imageConfig }: NonNullable<SandboxGeminiRequest['generationConfig']>): {
  width: number
  height: number
} {
  const { aspectRatio = '1:1', imageSize = '1K' } = imageConfig ?? {}
  const { side } = IMAGE_SIZES[imageSize]
  const stretch = Math.sqrt(ASPECT_RATIOS[aspectRatio])
  const blocks = (length: number): number => Math.max(1, Math.round(length / GRID)) * GRID
  return { width: blocks(side * stretch), height: blocks(side / stretch) }
}

/** The last picture that the request holds, whoever made it: what is to be edited. */
async function subjectOf({ contents }: SandboxGeminiRequest): Promise<Canvas | 'unreadable' | undefined> {
  const pictures = contents.flatMap(({ parts }) => parts.flatMap(({ inlineData }) => inlineData ?? []))
  const last = pictures.findLast(({ mimeType }) => mimeType.startsWith('image/'))
  return last && ((await decode(Buffer.from(last.data, 'base64'))) ?? 'unreadable')
}

const promptOf = ({ contents }: SandboxGeminiRequest): string =>
  (contents.findLast(({ role }) => role !== 'model')?.parts ?? []).map(({ text = '' }) => text).join('\n')

/** Undefined where the picture to be edited is none. */
export const paintTurn = (
  request: SandboxGeminiRequest,
  { tokensLeft, signal }: { tokensLeft: number; signal: AbortSignal | undefined },
): Promise<PaintedAnswer | undefined> => atEasel(signal, () => paintedTurn(request, tokensLeft))

async function paintedTurn(request: SandboxGeminiRequest, tokensLeft: number): Promise<PaintedAnswer | undefined> {
  const config = request.generationConfig ?? {}
  const wants = (modality: 'TEXT' | 'IMAGE'): boolean => config.responseModalities?.includes(modality) ?? true
  const subject = await subjectOf(request)
  if (subject === 'unreadable') return undefined
  const prompt = promptOf(request)
  const sides = sidesOf(config)
  const fresh = { ...sides, isTransparent: false, seed: (config.seed ?? 0) >>> 0 }
  // An edit is made in the size of the subject, which is bounded, and not in the one that is wished for.
  const edited = subject && (await repaint(subject, prompt, undefined))
  const canvas = await (edited ? resize(edited, sides) : picture(prompt, fresh))
  const { tokens } = IMAGE_SIZES[config.imageConfig?.imageSize ?? '1K']
  const whole = wants('IMAGE') ? 'Here is the picture.' : 'It would have bold shapes.'
  const words = wants('TEXT') ? firstTokens(whole, Math.max(0, tokensLeft - REASONING_TOKENS)) : NO_WORDS
  const fits = REASONING_TOKENS + words.tokens + tokens <= tokensLeft
  const isPainted = wants('IMAGE') && fits
  const data = async (pixelate?: number): Promise<string> =>
    (await encode(canvas, { format: 'png', pixelate })).toString('base64')
  const thoughtSignature = signatureOfText()
  return {
    choice: {
      index: 0,
      seed: hashOf(prompt),
      reasoningTokens: Math.min(REASONING_TOKENS, tokensLeft),
      text: words.text,
      textTokens: words.tokens,
      calls: [],
      finishReason: wants('IMAGE') && !fits ? 'length' : 'stop',
    },
    sketch: { inlineData: { mimeType: 'image/png', data: await data(64) }, thought: true },
    painting: isPainted
      ? { parts: [{ inlineData: { mimeType: 'image/png', data: await data() }, thoughtSignature }], tokens }
      : undefined,
  }
}
