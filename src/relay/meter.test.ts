import { expect, test } from 'bun:test'
import { readChatUsage } from '../formats/core/openai-usage.ts'
import { readGeminiUsage } from '../formats/gemini/usage.ts'
import { inlineImageModality } from '../modalities/inline-image.ts'
import { textModality } from '../modalities/text.ts'
import type { Admission } from './admit.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { meter as meterAs } from './meter.ts'

const IMAGE_TOKENS = 1_290
const QUOTED_OUTPUT = 50

/** A word is a token here, and so is a run of blanks. */
const tokensOf = (text: string): number => (text === '' ? 0 : Math.max(1, text.split(/\s+/).filter(Boolean).length))
const relay = {
  log: () => undefined,
  tokens: { count: (texts: string[]) => Promise.resolve(texts.map(tokensOf)) },
} as unknown as Relay
const call = {
  id: 'r',
  caller: { account: { id: 'a' } },
  request: {
    promptText: () => 'as many words as seven tokens are',
    imageParts: 0,
    messages: 0,
    outputTokensMax: QUOTED_OUTPUT,
  },
} as unknown as GatewayRequest
const admission = {
  model: { limits: { imageTokensMax: 0, image: { tokens: { '1K': IMAGE_TOKENS }, qualityDefault: '1K' } } },
  quoted: { inputTokens: 100, outputTokens: QUOTED_OUTPUT, outputTokensMax: QUOTED_OUTPUT },
} as unknown as Admission

/** The modality of the answer. Pictures come from an image model. */
const meter = (of: Relay, by: GatewayRequest, to: Parameters<typeof meterAs>[2]): ReturnType<typeof meterAs> =>
  meterAs(of, by, { ...to, admission: { ...to.admission, modality: to.painted ? inlineImageModality : textModality } })

/** For an image model: text and six images. */
const ofPictures = { ...admission, quoted: { ...admission.quoted, outputTokens: 8_192, outputTokensMax: 8_192 } }

const words = (count: number): string => 'word '.repeat(count)
const chat = (prompt: number, completion: number, reasoning = 0): ReturnType<typeof readChatUsage> =>
  readChatUsage({
    prompt_tokens: prompt,
    completion_tokens: completion,
    completion_tokens_details: { reasoning_tokens: reasoning },
  })
const gemini = (prompt: number, candidates: number, thoughts = 0): ReturnType<typeof readGeminiUsage> =>
  readGeminiUsage({ promptTokenCount: prompt, candidatesTokenCount: candidates, thoughtsTokenCount: thoughts })
const geminiKinds = (text: number, image: number): ReturnType<typeof readGeminiUsage> =>
  readGeminiUsage({
    promptTokenCount: 9,
    candidatesTokenCount: text + image,
    candidatesTokensDetails: [
      { modality: 'TEXT', tokenCount: text },
      { modality: 'IMAGE', tokenCount: image },
    ],
  })
const painted = { images: 1, spoiled: 0, endedBy: 'vendor' } as const

test('a report that names only text has only text, and a picture that arrived is added', async () => {
  const wordsAlone = readGeminiUsage({
    promptTokenCount: 9,
    candidatesTokenCount: 30,
    candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 30 }],
  })
  const to = { usage: wordsAlone, produced: words(30), painted, admission: ofPictures }
  for (const complete of [true, false]) {
    expect(await meter(relay, call, { ...to, complete })).toMatchObject({
      usage: { outputText: 30, outputImage: IMAGE_TOKENS },
      source: 'estimated',
    })
  }
  // If it does not name all tokens, the rest may be a picture.
  const some = readGeminiUsage({
    promptTokenCount: 9,
    candidatesTokenCount: 1_320,
    candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 30 }],
  })
  expect(await meter(relay, call, { ...to, usage: some, complete: true })).toMatchObject({
    usage: { outputText: 30, outputImage: IMAGE_TOKENS },
  })
})

test('an impossible count of picture tokens is ignored, because they are part of the reported text', async () => {
  const usage = readGeminiUsage({
    promptTokenCount: 9,
    candidatesTokenCount: 1_320,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: -1 }],
  })
  const to = { usage, produced: words(30), painted, admission: ofPictures, complete: true }
  expect(await meter(relay, call, to)).toMatchObject({ usage: { outputText: 30, outputImage: IMAGE_TOKENS } })
})

test('a picture is never billed on top of words that it must be among, whatever a report calls them', async () => {
  const detailed = (all: number, candidatesTokensDetails: readonly object[]): ReturnType<typeof readGeminiUsage> =>
    readGeminiUsage({ promptTokenCount: 9, candidatesTokenCount: all, candidatesTokensDetails })
  const one = { produced: words(2), painted, complete: true }
  const held = { ...ofPictures, quoted: { ...ofPictures.quoted, outputTokens: IMAGE_TOKENS } }
  const text = (tokenCount: number): object => ({ modality: 'TEXT', tokenCount })
  const none = { modality: 'IMAGE', tokenCount: 0 }
  const unnamed = { modality: 'MODALITY_UNSPECIFIED', tokenCount: IMAGE_TOKENS }
  for (const details of [[text(30), none], [none], [unnamed], [text(IMAGE_TOKENS)], [text(IMAGE_TOKENS), none]]) {
    expect(await meter(relay, call, { ...one, usage: detailed(IMAGE_TOKENS, details), admission: held })).toMatchObject(
      {
        usage: { outputText: 0, outputImage: IMAGE_TOKENS },
        source: 'estimated',
      },
    )
  }
  // Reports without a kind for the rest are treated so with any amount of room.
  for (const details of [[text(30), none], [none], [unnamed]]) {
    expect(
      await meter(relay, call, { ...one, usage: detailed(IMAGE_TOKENS, details), admission: ofPictures }),
    ).toMatchObject({ usage: { outputText: 0, outputImage: IMAGE_TOKENS } })
  }
  // The rest is too small for a picture, which is billed as far as the hold goes.
  expect(await meter(relay, call, { ...one, usage: detailed(30, [text(30)]), admission: held })).toMatchObject({
    usage: { outputText: 30, outputImage: IMAGE_TOKENS - 30 },
  })
})

test('a picture that a running report counts as text is billed, whatever else fills the hold', async () => {
  const left = { produced: '', painted: { ...painted, endedBy: 'client' as const }, complete: false }
  for (const [hold, thoughts] of [
    [256, IMAGE_TOKENS],
    [256, 1_200],
    [256, 600],
    [2_000, 1_500],
  ] as const) {
    const held = { ...admission, quoted: { ...admission.quoted, outputTokens: hold } }
    for (const complete of [true, false]) {
      const to = { ...left, complete, usage: gemini(9, IMAGE_TOKENS, thoughts), admission: held }
      expect(await meter(relay, call, to)).toMatchObject({
        usage: { outputText: 0, outputImage: IMAGE_TOKENS, outputReasoning: thoughts },
      })
    }
  }
  // Our own count beside it stays within the hold.
  const larger = { ...admission, quoted: { ...admission.quoted, outputTokens: 2_000 } }
  for (const [held, count] of [
    [larger, 2_000],
    [admission, QUOTED_OUTPUT],
  ] as const) {
    const to = { ...left, produced: words(count), usage: gemini(9, IMAGE_TOKENS), admission: held }
    const { usage: counted } = await meter(relay, call, to)
    expect(counted.outputImage).toBe(IMAGE_TOKENS)
    expect(counted.outputText + IMAGE_TOKENS).toBe(Math.max(held.quoted.outputTokens, IMAGE_TOKENS))
  }
  // A report that calls everything text is read as at the end.
  const usage = readGeminiUsage({
    promptTokenCount: 9,
    candidatesTokenCount: 2_580,
    thoughtsTokenCount: 200,
    candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 2_580 }],
  })
  const held = { ...admission, quoted: { ...admission.quoted, outputTokens: 4_000 } }
  expect(await meter(relay, call, { ...left, usage, admission: held })).toMatchObject({
    usage: { outputText: IMAGE_TOKENS, outputImage: IMAGE_TOKENS, outputReasoning: 200 },
  })
})

test('after a broken stream, no more text is counted than was held for beside its pictures', async () => {
  const quoted = { ...ofPictures.quoted, outputTokens: 2_000 }
  const to = { usage: geminiKinds(0, IMAGE_TOKENS), produced: words(2_000), painted, complete: false }
  expect(await meter(relay, call, { ...to, admission: { ...ofPictures, quoted } })).toMatchObject({
    usage: { outputText: 2_000 - IMAGE_TOKENS, outputImage: IMAGE_TOKENS },
  })
})

test('our own count never exceeds the hold, text and reasoning together', async () => {
  const arrived = { produced: words(QUOTED_OUTPUT), thoughts: words(QUOTED_OUTPUT), admission }
  const whole = await meter(relay, call, { ...arrived, usage: chat(7, 0), complete: true })
  expect(whole).toMatchObject({ usage: { inputFresh: 7, outputText: QUOTED_OUTPUT, outputReasoning: 0 } })
  const cut = await meter(relay, call, { ...arrived, usage: chat(7, 30, 20), complete: false })
  const { outputText, outputReasoning } = cut.usage
  expect([outputText + outputReasoning, outputText >= 10, outputReasoning >= 20]).toEqual([QUOTED_OUTPUT, true, true])
  // A vendor’s report stands, even if it is larger.
  const more = await meter(relay, call, { ...arrived, usage: chat(7, 80, 60), complete: false })
  expect(more).toEqual({ usage: chat(7, 80, 60) as NonNullable<ReturnType<typeof chat>>, source: 'reported' })
})

test('a picture beside an empty report has the size that its vendor states for such pictures', async () => {
  const picture = { produced: '', painted, admission: ofPictures, complete: true }
  const outputs = { outputText: 0, outputImage: IMAGE_TOKENS }
  expect(await meter(relay, call, { ...picture, usage: gemini(9, 0) })).toMatchObject({
    usage: { inputFresh: 9, ...outputs },
    source: 'estimated',
  })
  expect(await meter(relay, call, { ...picture, usage: gemini(0, 0) })).toMatchObject({
    usage: { inputFresh: 7, ...outputs },
    source: 'estimated',
  })
  expect(await meter(relay, call, { ...picture, usage: gemini(9, 0, 30) })).toMatchObject({
    usage: { inputFresh: 9, outputReasoning: 30, ...outputs },
    source: 'estimated',
  })
})

test('a picture in a running report is not also charged as text', async () => {
  const left = { painted: { ...painted, endedBy: 'client' as const }, admission: ofPictures, complete: false }
  const outputs = { outputText: 10, outputImage: IMAGE_TOKENS }
  for (const reported of [IMAGE_TOKENS + 10, IMAGE_TOKENS + 3, 4]) {
    const metered = await meter(relay, call, { ...left, produced: words(10), usage: gemini(9, reported) })
    expect(metered).toMatchObject({ usage: { inputFresh: 9, ...outputs }, source: 'estimated' })
  }
})

test('our own count has no more pictures than were held for, which is at least one', async () => {
  const album = { produced: words(92), painted: { ...painted, images: 20 }, admission: ofPictures, complete: true }
  const all = { outputText: 92, outputImage: 8_100 }
  expect(await meter(relay, call, { ...album, usage: undefined })).toMatchObject({ usage: all, source: 'estimated' })
  expect(await meter(relay, call, { ...album, usage: gemini(9, 0) })).toMatchObject({ usage: all })
  // A complete report stands.
  expect(await meter(relay, call, { ...album, usage: gemini(9, 20 * IMAGE_TOKENS) })).toMatchObject({
    usage: { outputText: 0, outputImage: 20 * IMAGE_TOKENS },
  })
  for (const count of [0, QUOTED_OUTPUT]) {
    const one = { produced: words(count), painted, admission, complete: true, usage: undefined }
    expect(await meter(relay, call, one)).toMatchObject({ usage: { outputImage: IMAGE_TOKENS - count } })
  }
})

test('text that a running report separates from pictures stays text', async () => {
  const left = { painted: { ...painted, endedBy: 'client' as const }, admission: ofPictures, complete: false }
  expect(await meter(relay, call, { ...left, produced: words(3), usage: geminiKinds(100, 0) })).toMatchObject({
    usage: { outputText: 100, outputImage: IMAGE_TOKENS },
  })
})

test('text that we have counted is text, and not part of a picture', async () => {
  const turn = { produced: words(12), painted, admission: ofPictures, complete: true }
  expect(await meter(relay, call, { ...turn, usage: gemini(9, 0) })).toMatchObject({
    usage: { inputFresh: 9, outputText: 12, outputImage: IMAGE_TOKENS },
  })
  // The same holds for text that a vendor counted as such, if no image arrived.
  expect(await meter(relay, call, { ...turn, usage: geminiKinds(100, 0) })).toMatchObject({
    usage: { inputFresh: 9, outputText: 100, outputImage: IMAGE_TOKENS },
    source: 'estimated',
  })
  // A vendor that does not separate them has counted both.
  expect(await meter(relay, call, { ...turn, usage: gemini(9, IMAGE_TOKENS + 20) })).toMatchObject({
    usage: { outputText: 20, outputImage: IMAGE_TOKENS },
  })
})

test('an answer of blanks may be reported as empty', async () => {
  const answer = { produced: '\n', admission, complete: true }
  expect(await meter(relay, call, { ...answer, usage: chat(7, 0) })).toEqual({
    usage: chat(7, 0) as NonNullable<ReturnType<typeof chat>>,
    source: 'reported',
  })
})

test('the running usage of an answer that ended without money is at most what was held', async () => {
  const to = { usage: chat(7, QUOTED_OUTPUT + 1), produced: words(20), admission, complete: false }
  expect(await meter(relay, call, { ...to, isCut: true })).toMatchObject({
    usage: { inputFresh: 7, outputText: 20 },
    source: 'estimated',
  })
  expect(await meter(relay, call, { ...to, usage: chat(7, QUOTED_OUTPUT), isCut: true })).toMatchObject({
    usage: { inputFresh: 7, outputText: QUOTED_OUTPUT },
    source: 'reported',
  })
})
