/** Reads content blocks at any depth. Tool results and documents have content of their own. */
import { asFields, asList, asText, type Fields } from '../core/fields.ts'
import type { RemoteMedium } from '../core/remote-media.ts'

/** The blocks of a `content` or a `system`. A plain text is one block. */
export function blocksOf(content: unknown): readonly Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return asList(content).map(asFields)
}

/** Blocks and the blocks inside them, depth first. The scan of the body bounds the depth. */
export function* allBlocks(content: unknown): Generator<Fields> {
  for (const block of blocksOf(content)) {
    yield block
    const { source } = block
    if (typeof block['content'] === 'object') yield* allBlocks(block['content'])
    if (asFields(source)['type'] === 'content') yield* allBlocks(asFields(source)['content'])
  }
}

/** Media by address, at any depth. */
export function remoteMediaOfContent(content: unknown, path: string): RemoteMedium[] {
  return blocksOf(content).flatMap((block, i) => {
    const at = `${path}[${i}]`
    const source = asFields(block['source'])
    const own = source['type'] === 'url' ? [{ url: asText(source['url']), param: `${at}.source.url` }] : []
    const inner = typeof block['content'] === 'object' ? remoteMediaOfContent(block['content'], `${at}.content`) : []
    const quoted = source['type'] === 'content' ? remoteMediaOfContent(source['content'], `${at}.source.content`) : []
    return [...own, ...inner, ...quoted]
  })
}

export type MessageMedia = { images: number; bytes: number; payloadChars: number; hasRemote: boolean }

/** Counts media. They cost by a rule of their own, not by the length of their base64. */
export function addMedia(media: MessageMedia, block: Fields): void {
  const source = asFields(block['source'])
  const data = source['type'] === 'base64' ? asText(source['data']) : ''
  media.payloadChars += data.length
  media.hasRemote ||= source['type'] === 'url'
  if (block['type'] === 'image') media.images++
  else media.bytes += Math.ceil((data.length * 3) / 4)
}

/** The text of a block, for an estimate. */
export function wordsOfBlock(block: Fields): string {
  switch (block['type']) {
    case 'text':
      return asText(block['text'])
    case 'tool_use':
      return `${asText(block['name'])}\n${JSON.stringify(block['input'] ?? {})}`
    case 'tool_result':
      return asText(block['content'])
    case 'document': {
      const source = asFields(block['source'])
      return source['type'] === 'text' ? asText(source['data']) : asText(source['content'])
    }
    default:
      return ''
  }
}
