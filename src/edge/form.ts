/** Reads forms with files within limits. Files go to the disk and fields to memory. */
import type { Upload, UploadBatch, UploadedFile } from '../blobs/uploads.ts'
import type { Failure } from '../domain/failure.ts'
import { formBounds, type FileField, type FormFile, type FormRules, type ReceivedForm } from '../formats/core/form.ts'
import type { BodyLimits, ServerExchange, PiecesEnd } from '../inbound/exchange.ts'
import { boundaryOf, MultipartError, MultipartReader, type MultipartEvent } from '../lib/http/multipart.ts'

export type ReadForm =
  | { readonly kind: 'read'; readonly form: ReceivedForm; readonly fingerprint: string }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const rejected = (failure: Failure): ReadForm => ({ kind: 'rejected', failure })
const malformed = (message: string): Failure => ({ kind: 'malformed_request', message })

/** The part of the form that is arriving. */
type OpenForm =
  | { readonly kind: 'field'; readonly name: string; readonly pieces: Buffer[]; bytes: number }
  | {
      readonly kind: 'file'
      readonly of: FileField
      readonly name: string
      readonly upload: Upload
      /** Whether the file name is empty. Browsers send such a part when no file was chosen. */
      readonly isNameless: boolean
      bytes: number
    }
  /** A part that should be a file but has no file name. It is ignored while it is empty. */
  | { readonly kind: 'blank'; readonly of: FileField; readonly name: string }
  /** A part that is too large or exceeds the count. The rest of it is discarded. */
  | { readonly kind: 'dropped' }

type NamedFile = UploadedFile & { readonly name: string }

type FormReading = {
  readonly batch: UploadBatch
  readonly rules: FormRules
  readonly limits: Omit<BodyLimits, 'bytesMax'>
}

/** Call this function in the tick of the request. */
export async function readForm(exchange: ServerExchange, { batch, rules, limits }: FormReading): Promise<ReadForm> {
  const boundary = boundaryOf(exchange.header('content-type') ?? '')
  if (boundary === undefined) return rejected(malformed('The Content-Type names no boundary of 1 to 70 characters.'))
  if (exchange.header('content-encoding') !== undefined) {
    return rejected({ kind: 'unsupported_media_type', message: 'Compressed bodies are not accepted.' })
  }
  const reader = new MultipartReader(boundary, formBounds)
  const collector = new FormCollector(batch, rules)
  try {
    const end = await exchange.readPieces({ ...limits, bytesMax: formBounds.bytesMax }, (piece) => {
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
  too_large: { kind: 'request_too_large', message: `The form is larger than ${formBounds.bytesMax} bytes.` },
  broken_off: malformed('The body ended early, or its chunked encoding is malformed.'),
  timeout: { kind: 'request_timeout', message: 'The body did not arrive in time.' },
}

class FormCollector {
  private readonly batch: UploadBatch
  private readonly fields = new Map<string, string>()
  private readonly files: ReadonlyMap<FileField, NamedFile[]>
  private open: OpenForm = { kind: 'dropped' }
  private readonly counts = new Map<FileField, number>()
  /** The first error. The rest of the form is still read, because a client that is sending does not read an answer. */
  private failure: Failure | undefined

  constructor(batch: UploadBatch, rules: FormRules) {
    this.batch = batch
    this.files = new Map(rules.files.map((field) => [field, []]))
  }

  take(event: MultipartEvent): void {
    if (event.kind === 'part') this.open = this.begin(event)
    else if (event.kind === 'data') this.data(event.bytes)
    else this.end()
  }

  form(): ReadForm {
    if (this.failure) return rejected(this.failure)
    const sorted = [...this.files].map(([field, all]) => [field, inOrder(field, all)] as const)
    const files = sorted.flatMap(([field, all]) => namedIn(field, all))
    const digests = sorted.flatMap(([field, all]) => digestsOf(field, all))
    return {
      kind: 'read',
      form: { fields: Object.fromEntries(this.fields), files },
      fingerprint: JSON.stringify([[...this.fields].toSorted(([a], [b]) => (a < b ? -1 : 1)), digests]),
    }
  }

  private fail(failure: Failure): OpenForm {
    this.failure ??= failure
    return { kind: 'dropped' }
  }

  private begin({ name, filename }: Extract<MultipartEvent, { kind: 'part' }>): OpenForm {
    const field = [...this.files.keys()].find(({ pattern }) => pattern.test(name))
    const param = name.slice(0, 100)
    if (!field) {
      if (filename !== undefined)
        return this.fail({ kind: 'invalid_value', message: `'${param}' is not a file field.`, param })
      return { kind: 'field', name, pieces: [], bytes: 0 }
    }
    if (filename === undefined) return { kind: 'blank', of: field, name: param }
    const count = this.count(field, 1)
    if (count > field.filesMax) return this.fail(field.tooMany)
    return { kind: 'file', of: field, name, upload: this.batch.create(), isNameless: filename === '', bytes: 0 }
  }

  private count(field: FileField, more: number): number {
    const count = (this.counts.get(field) ?? 0) + more
    this.counts.set(field, count)
    return count
  }

  private data(bytes: Buffer): void {
    const { open } = this
    if (open.kind === 'dropped' || this.failure) return
    if (open.kind === 'blank') {
      this.open = this.fail({ kind: 'invalid_type', message: `'${open.name}' must be a file.`, param: open.of.name })
      return
    }
    open.bytes += bytes.length
    const bytesMax = open.kind === 'file' ? open.of.bytesMax : formBounds.fieldBytesMax
    if (open.bytes > bytesMax) this.open = this.fail(tooLarge(open))
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
        this.count(open.of, -1)
        return
      }
      this.files.get(open.of)?.push({ ...open.upload.end(), name: open.name })
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
function inOrder({ pattern }: FileField, all: readonly NamedFile[]): readonly NamedFile[] {
  const placeOf = ({ name }: NamedFile): number => Number(pattern.exec(name)?.[1] || 0)
  return all.toSorted((a, b) => placeOf(a) - placeOf(b))
}

const namedIn = ({ name }: FileField, all: readonly NamedFile[]): readonly FormFile[] =>
  all.map(({ path, bytes }, i) => ({ field: name, param: all.length === 1 ? name : `${name}[${i}]`, path, bytes }))

/** The names and digests of the files. A field of one file has a place even without it. */
const digestsOf = ({ name, filesMax }: FileField, all: readonly NamedFile[]): readonly (readonly unknown[])[] =>
  all.length === 0 && filesMax === 1 ? [[null, null]] : all.map(({ sha256 }) => [name, sha256])

function tooLarge(open: Exclude<OpenForm, { kind: 'dropped' | 'blank' }>): Failure {
  const param = open.name.slice(0, 100)
  if (open.kind === 'file') return open.of.tooLarge(param)
  const message = `'${param}' is larger than ${formBounds.fieldBytesMax} bytes.`
  return { kind: 'request_too_large', message, param }
}

/** Reads the same content in JSON. */
export function readJsonForm(
  body: Readonly<Record<string, unknown>>,
  read: Required<FormRules>['fromJson'],
  { batch, rules }: Pick<FormReading, 'batch' | 'rules'>,
): ReadForm {
  const found = read(body)
  if ('message' in found) return rejected(found)
  const files: FormFile[] = []
  for (const { field, param, base64 } of found.files) {
    const of = rules.files.find(({ name }) => name === field)
    if (!of) throw new Error(`the form has no file ${field}`)
    // One file at a time is decoded, because all of them together can be large.
    const bytes = Buffer.from(base64, 'base64')
    if (bytes.length > of.bytesMax) return rejected(of.tooLarge(param))
    const upload = batch.create()
    if (!upload.write(bytes)) return rejected(CROWDED)
    const { path, bytes: written } = upload.end()
    files.push({ field, param, path, bytes: written })
  }
  return { kind: 'read', form: { fields: found.fields, files }, fingerprint: JSON.stringify(body) }
}
