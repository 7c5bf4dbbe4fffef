/** What is sent for a video, and what it will cost. */
import type { Model } from '../../lib/models.ts'

export type Frames = {
  readonly first?: File | undefined
  readonly last?: File | undefined
  readonly reference?: File | undefined
}

/** In nano-dollars, where the model is sold by the second. A card names as much of a second as its prices differ by. */
export function priceOf({ price }: Model, resolution: string, seconds: number): bigint | undefined {
  const perSecond = price.each[`second/${resolution}`] ?? price.each['second']
  return perSecond === undefined ? undefined : BigInt(perSecond) * BigInt(seconds)
}

const roles = { first: 'first_frame', last: 'last_frame', reference: 'reference_image' } as const

export async function contentOf(prompt: string, frames: Frames): Promise<readonly object[]> {
  const named = (['first', 'last', 'reference'] as const).flatMap((name) =>
    frames[name] ? [{ name, file: frames[name] }] : [],
  )
  const images = await Promise.all(
    named.map(async ({ name, file }) => ({
      type: 'image_url',
      image_url: { url: await dataUrlOf(file) },
      role: roles[name],
    })),
  )
  return [{ type: 'text', text: prompt }, ...images]
}

const dataUrlOf = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(reader.result as string))
    reader.addEventListener('error', () => reject(reader.error ?? new Error('unreadable')))
    reader.readAsDataURL(file)
  })
