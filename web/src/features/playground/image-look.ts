/** The chosen image options, and the part of them that the selected model supports. */
import type { ImageFacts } from '../../lib/api-types.gen.ts'

export type Look = {
  readonly size: string
  readonly quality: string
  readonly count: number
  readonly background: string
  readonly format: string
  readonly style: string
}
export type WantedLook = Omit<Look, 'count'> & { readonly count: string }
export const nothing: WantedLook = { size: '', quality: '', count: '1', background: '', format: '', style: '' }

const among = (list: readonly string[] | undefined, value: string, otherwise = ''): string =>
  list?.includes(value) ? value : otherwise

/** Options that the model supports. For the others its default applies. */
export function lookOf(facts: ImageFacts | null, wanted: WantedLook): Look {
  const background = among(facts?.backgrounds, wanted.background)
  return {
    size: among(facts?.sizes, wanted.size, facts?.sizeDefault),
    quality: among(facts?.qualities, wanted.quality, facts?.qualityDefault),
    // A whole number, whatever was typed. A part of an image has no price.
    count: Math.max(1, Math.min(Math.trunc(Number(wanted.count)) || 1, facts?.countMax ?? 1)),
    background,
    // JPEG has no transparency.
    format: background === 'transparent' && wanted.format === 'jpeg' ? '' : among(facts?.formats, wanted.format),
    style: among(facts?.styles, wanted.style),
  }
}
