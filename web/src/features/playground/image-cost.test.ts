/** The price that the console shows for an image must equal the hold of the gateway. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Model } from '../../lib/api-types.gen.ts'
import { dearestImage, imagesOf, imageTokensMax } from '../../../../src/domain/image.ts'
import { imageFamilies, imageFamilyNames } from '../../../../src/vendors/image-families.ts'
import { divideUp } from '../../../../src/domain/money.ts'
import { unitPrices } from '../../../../src/domain/price.ts'
import { priceAtMost, priceOf } from './image-cost.ts'

const MILLION = 1_000_000n
const each = { image: 16_000_000n, 'image/1024x1024/hd': 80_000_000n, 'image/1792x1024': 90_000_000n }

test('by tokens and by the piece, of every family, size, quality and number', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...imageFamilyNames),
      fc.nat(),
      fc.nat(),
      fc.integer({ min: 1, max: 10 }),
      (...drawn) => {
        const [name, sizeAt, qualityAt, count] = drawn
        const facts = imageFamilies[name]
        const size: string = facts.sizes[sizeAt % facts.sizes.length] ?? ''
        const quality: string = facts.qualities[qualityAt % facts.qualities.length] ?? ''
        const look = { size, quality, count, background: '', format: '', style: '' }
        const partials = facts.streams && count === 1 ? Math.min(2, facts.partialsMax) : 0
        const wish = { count, size, quality, partials, inputs: 0 }
        const model = { image: facts, price: { image_output: '40000000001', each: {} } } as unknown as Model
        const tokens = BigInt(imagesOf(facts, wish) * imageTokensMax(facts, wish))
        const isCounted = Object.keys(facts.tokens).length > 0
        expect(priceAtMost(model, look)).toBe(isCounted ? divideUp(tokens * 40_000_000_001n, MILLION) : undefined)

        // If the model chooses the size, there is no single price.
        if (size === 'auto' || quality === 'auto') return
        const card = { id: 1, effectiveFromMs: 0, nanoPerMillion: unitPrices({ input: 0n, output: 0n, each }) }
        const texts = Object.fromEntries(Object.entries(each).map(([unit, price]) => [unit, price.toString()]))
        const sold = { image: facts, price: { each: texts } } as unknown as Model
        expect(priceOf(sold, look)).toBe((BigInt(imagesOf(facts, wish)) * dearestImage(card, facts, wish)) / MILLION)
      },
    ),
    { numRuns: 500 },
  )
})
