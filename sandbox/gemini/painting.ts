/** Answers that contain a picture: thoughts, text, and the picture as a separate part. */
import type { Choice } from '../chat/choice.ts'
import { repaint } from '../images/edits.ts'
import type { Canvas } from '../images/paint.ts'
import { atEasel, decode, encode, picture, resize } from '../images/picture.ts'
import { hashOf } from '../random.ts'
import { firstTokens, NO_WORDS } from '../tokens.ts'
import { ASPECT_RATIOS, IMAGE_SIZES, type SandboxGeminiRequest } from './request.ts'
import { signatureOfText } from './signature.ts'

/** The parts of an answer that are no text, and their tokens. */
export type ImageParts = { parts: object[]; tokens: number }

export type PaintedAnswer = {
  choice: Choice
  /** A draft picture from the thoughts. It is shown and counted with them. */
  sketch: object
  painting: ImageParts | undefined
}

/** Google's image models think before each picture. */
const REASONING_TOKENS = 24
const GRID = 16

/** Sides in whole blocks of pixels. The area is about the same for any ratio. */
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

/** The last picture in the request, by the user or the model. It is the one to edit. */
async function subjectOf({ contents }: SandboxGeminiRequest): Promise<Canvas | 'unreadable' | undefined> {
  const pictures = contents.flatMap(({ parts }) => parts.flatMap(({ inlineData }) => inlineData ?? []))
  const last = pictures.findLast(({ mimeType }) => mimeType.startsWith('image/'))
  return last && ((await decode(Buffer.from(last.data, 'base64'))) ?? 'unreadable')
}

const promptOf = ({ contents }: SandboxGeminiRequest): string =>
  (contents.findLast(({ role }) => role !== 'model')?.parts ?? []).map(({ text = '' }) => text).join('\n')

/** Undefined if the picture to edit is unreadable. */
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
  // An edit is made in the bounded size of the subject, not in the requested size.
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
