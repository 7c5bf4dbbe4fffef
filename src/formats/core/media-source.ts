/** The source of a medium: an address or a `data:` URL. */
import type { MediaSource } from '../../domain/turn.ts'

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.-]+)*?;base64,/i

/** Reads a base64 `data:` URL as bytes and any other as an address. */
export function sourceOf(url: string): MediaSource {
  const match = DATA_URL.exec(url.slice(0, 200))
  if (!match) return { kind: 'url', url }
  return { kind: 'data', mediaType: match[1] ?? 'application/octet-stream', base64: url.slice(match[0].length) }
}

export const urlOf = (source: MediaSource): string =>
  source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`
