/** The price that the console shows must equal the hold of the gateway, to the nano-dollar. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Model as Shown, VideoFacts as ShownFacts } from '../../lib/api-types.gen.ts'
import type { Model } from '../../../../src/domain/catalog.ts'
import { defaultModelLimits } from '../../../../src/domain/model-limits.ts'
import { unitPrices, type UnitPrices } from '../../../../src/domain/price.ts'
import { type VideoFacts } from '../../../../src/domain/video.ts'
import { videoFamilies, videoFamilyNames } from '../../../../src/vendors/video-families.ts'
import { readVideo } from '../../../../src/formats/videos/request.ts'
import { checkVideo } from '../../../../src/formats/videos/check.ts'
import { scanRequest } from '../../../../src/formats/core/request-json.ts'
import { videoModality } from '../../../../src/modalities/video.ts'
import type { VideoWanted } from '../../lib/video-wanted.ts'
import { costOf } from './video-cost.ts'
import { bodyOf, scenes, secondsOf, upscaleResolutions, versions, wishOf } from './video-options.ts'

const each = {
  'second/480p': 30_000_000n,
  'second/720p': 60_000_000n,
  'second/720p/with-video': 75_000_000n,
  'second/1080p/silent': 150_000_000n,
  'second/1080p/audio': 170_000_000n,
  upscale: 10_000_000n,
  'upscale/2k': 15_000_000n,
  'upscale/4k/professional': 40_000_000n,
  'upscale/4k/standard/120fps': 33_000_000n,
}
const cards = {
  seconds: unitPrices({ input: 0n, output: 0n, each }),
  tokens: unitPrices({ input: 0n, output: 7_000_000_001n, each: { upscale: 10_000_000n } }),
  pieces: unitPrices({
    input: 0n,
    output: 0n,
    each: { 'token/720p': 9_000n, 'token/1080p/with-video': 4_000n, upscale: 1n },
  }),
} satisfies Record<string, UnitPrices>

const wanted: fc.Arbitrary<VideoWanted> = fc.record(
  {
    resolution: fc.constantFrom('480p', '720p', '1080p'),
    ratio: fc.constantFrom('16:9', '4:3', '1:1', '9:16', '21:9', 'adaptive'),
    seconds: fc.constantFrom('-1', '4', '5', '8', '15'),
    audio: fc.constantFrom('on' as const, 'off' as const),
    upscale: fc.constantFrom('', 'same', 'edge', ...upscaleResolutions),
    edge: fc.integer({ min: 64, max: 2_160 }).map(String),
    scene: fc.constantFrom(...scenes),
    version: fc.constantFrom(...versions),
    fps: fc.constantFrom('', '24', '31', '60', '61', '120'),
  },
  { requiredKeys: ['edge'] },
)

const modelOf = (video: VideoFacts, nanoPerMillion: UnitPrices): Model => ({
  id: 'film',
  ownedBy: 'x',
  createdAtMs: 0,
  kind: 'video',
  limits: { ...defaultModelLimits, video },
  origin: 'stored',
  sale: { id: 1, effectiveFromMs: 0, nanoPerMillion },
  offers: [],
})

const shownOf = (prices: UnitPrices): Pick<Shown, 'price'> => ({
  price: {
    output: prices.outputText.toString(),
    each: Object.fromEntries(
      Object.entries(prices)
        .filter(([unit]) => unit.startsWith('piece:'))
        .map(([unit, price]) => [unit.slice('piece:'.length), (price / 1_000_000n).toString()]),
    ),
  } as never,
})

test('what the form says is what the gateway holds, and what it offers is not refused', () => {
  const family = fc.constantFrom(...videoFamilyNames)
  const card = fc.constantFrom(...(Object.keys(cards) as (keyof typeof cards)[]))
  let priced = 0
  fc.assert(
    fc.property(family, card, wanted, fc.boolean(), (name, cardName, chosen, isGiven) => {
      const facts: VideoFacts = { ...videoFamilies[name], upscaler: 'somebody' }
      const shown = { ...facts, upscales: true } as unknown as ShownFacts
      const withVideo = isGiven && facts.referenceVideosMax > 0
      const wish = wishOf(shown, chosen)
      expect(secondsOf(shown)).toContain(String(wish.seconds))
      const video = { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' }, role: 'reference_video' }
      const body = bodyOf('film', wish, [{ type: 'text', text: 'x' }, ...(withVideo ? [video] : [])])
      const read = readVideo(scanRequest(JSON.stringify(body)))
      if (read.kind === 'rejected') throw new Error(read.failure.message)
      const model = modelOf(facts, cards[cardName])
      const refused = checkVideo(read.body, model)
      const cost = costOf(shownOf(cards[cardName]), shown, { wish, withVideo })
      expect({ cost: cost === undefined, refused: refused?.message }).toEqual({
        cost: refused !== undefined,
        refused: refused && expect.stringContaining('has no price'),
      })
      if (!cost) return
      priced++
      const request = { outputTokensMax: undefined, choices: 1, textBytes: 1, imageParts: 0, mediaBytes: 0 }
      const means = { available: 10n ** 18n, isAlone: true }
      const quoted = videoModality.quote({ ...request, video: read.body }, model, means)
      expect(quoted).toMatchObject({ kind: 'quoted', amount: cost.making + (cost.upscaling ?? 0n) })
    }),
    { numRuns: 500 },
  )
  expect(priced).toBeGreaterThan(100)
})
