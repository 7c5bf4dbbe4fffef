/** Media by address: what Gemini's API fetches itself, and the media type that an address suggests. */
import { asText, ownIn, type Fields } from '../core/fields.ts'

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  gif: 'image/gif',
}
const EXTENSION = /\.([a-z0-9]{2,4})(?:$|[?#])/i

/** The media type that the ending of an address suggests. */
export const imageTypeOf = (uri: string): string | undefined =>
  ownIn(types, EXTENSION.exec(uri)?.[1]?.toLowerCase() ?? '')

export function isImageFile({ mimeType, fileUri }: Fields): boolean {
  const type = asText(mimeType) || imageTypeOf(asText(fileUri))
  return type?.startsWith('image/') ?? false
}

/** Whether the address is in Google's Cloud Storage. Nothing else fetches from such an address. */
export const isInGooglesStore = (uri: string): boolean => uri.startsWith('gs://')

/**
 * Whether the address is in a store of Google's. From any other place the gateway would have to fetch, and it does not.
 */
export const isGooglesOwn = (uri: string): boolean =>
  isInGooglesStore(uri) || uri.startsWith('https://generativelanguage.googleapis.com/')

/**
 * Base64 in the alphabet and with the padding that other dialects demand. Google's API also takes the URL-safe
 * alphabet, which its SDK for Python sends (https://github.com/googleapis/python-genai, `encode_unserializable_types`
 * in `_common.py`, 2026-11).
 */
export const standardBase64 = (data: string): string =>
  /[-_\s]/.test(data) || data.length % 4 !== 0 ? Buffer.from(data, 'base64').toString('base64') : data
