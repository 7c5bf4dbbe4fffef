/** Reads the form of an image edit within limits. Pictures go to the disk and fields to memory. */
import type { Upload, UploadBatch, UploadedFile } from '../blobs/uploads.ts'
import type { Failure } from '../domain/failure.ts'
import { imageFormBounds } from '../domain/image.ts'
import type { EditFile, EditForm } from '../formats/images/edit.ts'
import { invalidMask } from '../formats/images/invalid-mask.ts'
import type { BodyLimits, ServerExchange, PiecesEnd } from '../inbound/exchange.ts'
import { boundaryOf, MultipartError, MultipartReader, type MultipartEvent } from '../lib/http/multipart.ts'

export type ReadForm =
  | { readonly kind: 'read'; readonly form: EditForm; readonly fingerprint: string }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const IMAGE_NAME = /^image(?:\[(\d{0,3})\])?$/
const MASK_NAME = /^mask(?:\[\])?$/

const rejected = (failure: Failure): ReadForm => ({ kind: 'rejected', failure })
const malformed = (message: string): Failure => ({ kind: 'malformed_request', message })

/** The part of the form that is arriving. */
type OpenForm =
  | { readonly kind: 'field'; readonly name: string; readonly pieces: Buffer[]; bytes: number }
  | {
      readonly kind: 'image' | 'mask'
      readonly name: string
      readonly upload: Upload
      /** Whether the file name is empty. Browsers send such a part when no file was chosen. */
      readonly isNameless: boolean
      bytes: number
    }
  /** A part that should be a file but has no file name. It is ignored while it is empty. */
  | { readonly kind: 'blank'; readonly of: 'image' | 'mask'; readonly name: string }
  /** A part that is too large or exceeds the count. The rest of it is discarded. */
  | { readonly kind: 'dropped' }

type NamedFile = UploadedFile & { readonly name: string; readonly kind: 'image' | 'mask' }

/** Call this function in the tick of the request. */
export async function readForm(
  exchange: ServerExchange,
  batch: UploadBatch,
  limits: Omit<BodyLimits, 'bytesMax'>,
): Promise<ReadForm> {
  const boundary = boundaryOf(exchange.header('content-type') ?? '')
  if (boundary === undefined) return rejected(malformed('The Content-Type names no boundary of 1 to 70 characters.'))
  if (exchange.header('content-encoding') !== undefined) {
    return rejected({ kind: 'unsupported_media_type', message: 'Compressed bodies are not accepted.' })
  }
  const reader = new MultipartReader(boundary, imageFormBounds)
  const collector = new FormCollector(batch)
  try {
    const end = await exchange.readPieces({ ...limits, bytesMax: imageFormBounds.bytesMax }, (piece) => {
      for (const event of reader.push(piece)) collector.take(event)
    })
    if (end !== 'complete') return rejected(brokenForm[end])
  } catch (error) {
    if (error instanceof MultipartError) return rejected(malformed(`The form cannot be read: ${error.message}.`))
    throw error
  }
  if (!reader.isEnded) return rejected(malformed('The form ends without its last boundary.'))
  return collector.form()
}

const brokenForm: Readonly<Record<Exclude<PiecesEnd, 'complete'>, Failure>> = {
  too_large: { kind: 'request_too_large', message: `The form is larger than ${imageFormBounds.bytesMax} bytes.` },
  broken_off: malformed('The body ended early, or its chunked encoding is malformed.'),
  timeout: { kind: 'request_timeout', message: 'The body did not arrive in time.' },
}

class FormCollector {
  private readonly batch: UploadBatch
  private readonly fields = new Map<string, string>()
  private readonly files: NamedFile[] = []
  private open: OpenForm = { kind: 'dropped' }
  private readonly counts = { image: 0, mask: 0 }
  /** The first error. The rest of the form is still read, because a client that is sending does not read an answer. */
  private failure: Failure | undefined

  constructor(batch: UploadBatch) {
    this.batch = batch
  }

  take(event: MultipartEvent): void {
    if (event.kind === 'part') this.open = this.begin(event)
    else if (event.kind === 'data') this.data(event.bytes)
    else this.end()
  }

  form(): ReadForm {
    if (this.failure) return rejected(this.failure)
    const images = this.files.filter(({ kind }) => kind === 'image').toSorted((a, b) => placeOf(a) - placeOf(b))
    const mask = this.files.find(({ kind }) => kind === 'mask')
    const fields = Object.fromEntries(this.fields)
    const named = ({ path, bytes }: NamedFile, param: string): EditFile => ({ param, path, bytes })
    const digests = [...images, mask].map((file) => [file?.kind, file?.sha256])
    return {
      kind: 'read',
      form: {
        fields,
        images: images.map((image, i) => named(image, images.length === 1 ? 'image' : `image[${i}]`)),
        mask: mask && named(mask, 'mask'),
      },
      fingerprint: JSON.stringify([[...this.fields].toSorted(([a], [b]) => (a < b ? -1 : 1)), digests]),
    }
  }

  private fail(failure: Failure): OpenForm {
    this.failure ??= failure
    return { kind: 'dropped' }
  }

  private begin({ name, filename }: Extract<MultipartEvent, { kind: 'part' }>): OpenForm {
    const kind = IMAGE_NAME.test(name) ? 'image' : MASK_NAME.test(name) ? 'mask' : undefined
    const param = name.slice(0, 100)
    if (!kind) {
      if (filename !== undefined)
        return this.fail({ kind: 'invalid_value', message: `'${param}' is not a file field.`, param })
      return { kind: 'field', name, pieces: [], bytes: 0 }
    }
    if (filename === undefined) return { kind: 'blank', of: kind, name: param }
    this.counts[kind]++
    if (this.counts.mask > 1) return this.fail(invalidMask('More than one mask was sent.'))
    if (this.counts.image > imageFormBounds.filesMax) {
      const message = `A form may have ${imageFormBounds.filesMax} images at most.`
      return this.fail({ kind: 'invalid_value', message, param: 'image' })
    }
    return { kind, name, upload: this.batch.create(), isNameless: filename === '', bytes: 0 }
  }

  private data(bytes: Buffer): void {
    const { open } = this
    if (open.kind === 'dropped' || this.failure) return
    if (open.kind === 'blank') {
      this.open = this.fail({ kind: 'invalid_type', message: `'${open.name}' must be a file.`, param: open.of })
      return
    }
    open.bytes += bytes.length
    const bytesMax = imageFormBounds[`${open.kind}BytesMax`]
    if (open.bytes > bytesMax) this.open = this.fail(tooLarge(open, bytesMax))
    else if (open.kind === 'field') open.pieces.push(Buffer.from(bytes))
    else if (!open.upload.write(bytes)) this.open = this.fail(CROWDED)
  }

  private end(): void {
    const { open } = this
    this.open = { kind: 'dropped' }
    if (open.kind === 'dropped' || open.kind === 'blank' || this.failure) return
    if (open.kind !== 'field') {
      if (open.isNameless && open.bytes === 0) {
        open.upload.end()
        this.counts[open.kind]--
        return
      }
      this.files.push({ ...open.upload.end(), name: open.name, kind: open.kind })
      return
    }
    const { name } = open
    if (this.fields.has(name)) {
      this.fail({ kind: 'invalid_value', message: `'${name}' is given more than once.`, param: name })
    }
    try {
      this.fields.set(name, utf8.decode(Buffer.concat(open.pieces)))
    } catch {
      this.fail({ kind: 'invalid_value', message: `'${name}' is not valid UTF-8.`, param: name })
    }
  }
}

const CROWDED: Failure = {
  kind: 'rate_limited',
  message: 'The files that this account is sending take too much room at once.',
  retryAfterMs: 5_000,
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The index in a name such as `image[2]` gives the place. Files without an index keep the order of arrival. */
const placeOf = ({ name }: NamedFile): number => Number(IMAGE_NAME.exec(name)?.[1] || 0)

function tooLarge({ kind, name }: Exclude<OpenForm, { kind: 'dropped' | 'blank' }>, bytesMax: number): Failure {
  if (kind === 'mask') return invalidMask(`The mask is larger than ${bytesMax} bytes.`)
  const what = kind === 'image' ? 'The image' : `'${name.slice(0, 100)}'`
  return { kind: 'request_too_large', message: `${what} is larger than ${bytesMax} bytes.`, param: name.slice(0, 100) }
}

const DATA_URL = /^data:image\/(?:png|jpeg|webp);base64,/i

/** Reads the JSON form of an edit: `images: [{ image_url: "data:…" }]`, and `mask` in the same shape. */
export function formOfJson(body: Readonly<Record<string, unknown>>, batch: UploadBatch): ReadForm {
  const { images: listed, mask: masked, ...fields } = body
  const images: EditFile[] = []
  const list = Array.isArray(listed) ? (listed as unknown[]) : []
  if (list.length > imageFormBounds.filesMax) {
    const message = `A request may have ${imageFormBounds.filesMax} images at most.`
    return rejected({ kind: 'invalid_value', message, param: 'images' })
  }
  for (const [i, entry] of list.entries()) {
    const param = `images[${i}].image_url`
    const saved = saveDataUrl(entry, batch, { param, bytesMax: imageFormBounds.imageBytesMax })
    if ('message' in saved) return rejected(saved)
    images.push(saved)
  }
  let mask: EditFile | undefined
  if (masked !== undefined && masked !== null) {
    const saved = saveDataUrl(masked, batch, { param: 'mask', bytesMax: imageFormBounds.maskBytesMax })
    if ('message' in saved) return rejected(invalidMask(saved.message))
    mask = saved
  }
  return { kind: 'read', form: { fields, images, mask }, fingerprint: JSON.stringify(body) }
}

function saveDataUrl(
  entry: unknown,
  batch: UploadBatch,
  { param, bytesMax }: { param: string; bytesMax: number },
): EditFile | Failure {
  const url = typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>)['image_url'] : undefined
  // The gateway does not fetch addresses for clients here: it may reach addresses that the client cannot.
  if (typeof url !== 'string' || !DATA_URL.test(url)) {
    const message = 'Pictures are sent as files of a form, or as image_url with data:image/png;base64,… (JPEG, WebP).'
    return { kind: 'invalid_value', message, param }
  }
  const bytes = Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
  if (bytes.length > bytesMax) {
    return { kind: 'request_too_large', message: `The picture is larger than ${bytesMax} bytes.`, param }
  }
  const upload = batch.create()
  if (!upload.write(bytes)) return CROWDED
  const { path, bytes: written } = upload.end()
  return { param, path, bytes: written }
}
