/** Writes forms with files (multipart/form-data) for sending. */
import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { KIB } from '../primitives/units.ts'

export type FormPart =
  | { readonly kind: 'field'; readonly name: string; readonly value: string }
  | {
      readonly kind: 'file'
      readonly name: string
      readonly filename: string
      readonly contentType: string
      readonly path: string
      readonly bytes: number
    }

/** A body that is sent piece by piece, and can be sent again. */
export type UploadBody = {
  readonly contentType: string
  readonly bytes: number
  /** The body from its beginning. Files are open only while it is read. A piece is valid until the next one. */
  pieces(): AsyncGenerator<Uint8Array>
}

const PIECE_BYTES = 32 * KIB

/** A form as a body. Names and file names are constants of the gateway, so they need no escaping. */
export function uploadOf(parts: readonly FormPart[]): UploadBody {
  const boundary = `tollgate-${randomBytes(18).toString('hex')}`
  const heads = parts.map((part) => Buffer.from(headOf(part, boundary)))
  const end = Buffer.from(`--${boundary}--\r\n`)
  const bodyBytes = (part: FormPart): number => (part.kind === 'file' ? part.bytes : Buffer.byteLength(part.value))
  const bytes = parts.reduce((sum, part, i) => sum + (heads[i]?.length ?? 0) + bodyBytes(part) + 2, end.length)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (const [i, part] of parts.entries()) {
      yield heads[i] as Buffer
      if (part.kind === 'field') yield Buffer.from(part.value)
      else yield* piecesOf(part.path, part.bytes)
      yield LINE_END
    }
    yield end
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes, pieces }
}

const LINE_END = Buffer.from('\r\n')

function headOf(part: FormPart, boundary: string): string {
  const start = `--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"`
  if (part.kind === 'field') return `${start}\r\n\r\n`
  return `${start}; filename="${part.filename}"\r\nContent-Type: ${part.contentType}\r\n\r\n`
}

async function* piecesOf(path: string, bytes: number): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r')
  try {
    for (let at = 0; at < bytes;) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bytes - at))
      const { bytesRead } = await file.read(piece, 0, piece.length, at)
      if (bytesRead === 0) throw new Error('a file of a form is shorter than it was')
      at += bytesRead
      yield piece.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}
