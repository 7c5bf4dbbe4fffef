/** Images, documents and audio as blocks. The format takes bytes only, and each kind has a closed list of formats. */
import type { AudioPart, FilePart, ImagePart, InputPart, MediaSource } from '../../domain/turn.ts'
import { ownIn } from '../core/fields.ts'
import type { Block } from './wire.ts'

/** `ImageFormat`, `AudioFormat` and `DocumentFormat` of the service model (boto/botocore, 2026-08), by media type. */
const images: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}
const sounds: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/flac': 'flac',
  'audio/ogg': 'ogg',
  'audio/opus': 'opus',
  'audio/aac': 'aac',
  'audio/mp4': 'mp4',
  'audio/m4a': 'm4a',
  'audio/webm': 'webm',
}
const OFFICE = 'application/vnd.openxmlformats-officedocument'
const documents: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/msword': 'doc',
  [`${OFFICE}.wordprocessingml.document`]: 'docx',
  'application/vnd.ms-excel': 'xls',
  [`${OFFICE}.spreadsheetml.sheet`]: 'xlsx',
  'application/json': 'txt',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
}

/** The media type without parameters, in small letters. */
const plainType = (mediaType: string): string => (mediaType.split(';')[0] ?? '').trim().toLowerCase()

function formatOf(kind: 'image' | 'audio' | 'file', mediaType: string): string | undefined {
  const type = plainType(mediaType)
  if (kind === 'image') return ownIn(images, type)
  if (kind === 'audio') return ownIn(sounds, type)
  return ownIn(documents, type) ?? (type.startsWith('text/') ? 'txt' : undefined)
}

/** What a message cannot express. Undefined if there is nothing. Amazon would read an `s3:` address as the operator. */
export function unsentMedia(
  parts: readonly InputPart[],
  { isResult }: { readonly isResult: boolean },
): string | undefined {
  for (const part of parts) {
    if (part.kind === 'text') continue
    if (part.kind === 'audio' && isResult) return 'audio as the result of a tool'
    if (part.source.kind === 'url') return `${part.kind} by address: send it as data`
    if (formatOf(part.kind, part.source.mediaType) === undefined) return plainType(part.source.mediaType)
  }
  return undefined
}

const bytesOf = (source: MediaSource): object => (source.kind === 'data' ? { bytes: source.base64 } : {})
const typeOf = (source: MediaSource): string => (source.kind === 'data' ? source.mediaType : '')

export const imageBlock = ({ source }: ImagePart): Block => ({
  image: { format: formatOf('image', typeOf(source)), source: bytesOf(source) },
})

export const audioBlock = ({ source }: AudioPart): Block => ({
  audio: { format: formatOf('audio', typeOf(source)), source: bytesOf(source) },
})

export const documentBlock = ({ source, name }: FilePart, names: DocumentNames): Block => ({
  document: { format: formatOf('file', typeOf(source)), name: names.of(name), source: bytesOf(source) },
})

const NAME_CHARS_MAX = 200
/** Room for a number behind a name. */
const NUMBER_CHARS = 8

/**
 * The names of the documents in one request. A name has letters, digits, single blanks, hyphens and brackets
 * (`DocumentBlock` of the service model), and no name stands twice
 * (https://github.com/anomalyco/opencode/pull/48756, 2026-09).
 */
export class DocumentNames {
  private readonly used = new Set<string>()
  /** The number that a name was last given. */
  private readonly numbers = new Map<string, number>()

  of(given: string | undefined): string {
    const first = plainName(given)
    let number = this.numbers.get(first) ?? 1
    let name = numbered(first, number)
    while (this.used.has(name.toLowerCase())) name = numbered(first, ++number)
    this.numbers.set(first, number)
    this.used.add(name.toLowerCase())
    return name
  }
}

const numbered = (name: string, number: number): string => (number === 1 ? name : `${name} ${number}`)

function plainName(given = ''): string {
  const plain = given.replace(/\.[a-zA-Z0-9]{1,8}$/, '').replaceAll(/[^a-zA-Z0-9\-()[\]]+/g, ' ')
  return (
    plain
      .trim()
      .slice(0, NAME_CHARS_MAX - NUMBER_CHARS)
      .trim() || 'document'
  )
}
