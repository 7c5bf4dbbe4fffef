/** Compares the objects of a bucket with the rows of hosted files, a bounded number of pages at a time. */
import type { BlobFinding } from './blobs.ts'
import type { BlobRows } from './blob-rows.ts'
import { s3Bounds } from './bucket-bounds.ts'
import type { S3Client } from './s3-client.ts'
import type { S3Failure } from './s3-failure.ts'
import { unescapedXml } from './s3-upload.ts'

/** The name of a hosted file. Other objects under the prefix are not ours. */
const DIGEST = /^[\da-f]{64}$/
/** S3 lists at most so many objects in one answer. */
const PAGE_MAX = 1_000
/** A row that is younger may have been written after the list was. */
const LIST_AGE_MS = 60_000

type ListedObject = { readonly name: string; readonly modifiedMs: number }
type Page = { readonly kind: 'page'; readonly objects: readonly ListedObject[]; readonly hasMore: boolean }

export class S3Inspection {
  private readonly client: S3Client
  /** The last name that was compared. */
  private above = ''

  constructor(client: S3Client) {
    this.client = client
  }

  async run(rows: BlobRows): Promise<readonly BlobFinding[] | S3Failure> {
    const noRow: string[] = []
    const noFile: string[] = []
    for (let pages = 0; pages < s3Bounds.pagesMax; pages++) {
      const listedMs = Date.now()
      const page = await this.list(this.above)
      if (page.kind === 'failed') return page
      const { objects, hasMore } = page
      const upTo = hasMore ? objects.at(-1)?.name : undefined
      noRow.push(...(await this.unknownOf(objects, rows, listedMs)))
      noFile.push(...(await this.missingOf(objects, rows, { above: this.above, upTo, listedMs })))
      this.above = upTo ?? ''
      if (upTo === undefined) break
    }
    const stale = await this.endUploads()
    if ('code' in stale) return stale
    const finding = (kind: BlobFinding['kind'], names: readonly string[]): BlobFinding[] =>
      names.length === 0 ? [] : [{ kind, count: names.length, example: names[0] ?? '' }]
    return [...finding('no_row', noRow), ...finding('no_file', noFile), ...finding('unfinished', stale)]
  }

  /** Whether the bucket can be listed at all. */
  async probe(): Promise<S3Failure | undefined> {
    const page = await this.list('')
    return page.kind === 'failed' ? page : undefined
  }

  private async list(above: string): Promise<Page | S3Failure> {
    const { prefix } = this.client.settings
    const from = prefix + above === '' ? {} : { 'start-after': prefix + above }
    const query = { 'list-type': '2', prefix, 'max-keys': String(PAGE_MAX), ...from }
    const answer = await this.client.ask({ method: 'GET', query })
    if (answer.kind === 'failed') return answer
    const objects = [...answer.text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, text = '']) => ({
      name: unescapedXml(tagOf(text, 'Key')).slice(prefix.length),
      modifiedMs: Date.parse(tagOf(text, 'LastModified')),
    }))
    return { kind: 'page', objects, hasMore: tagOf(answer.text, 'IsTruncated') === 'true' }
  }

  /**
   * Deletes objects whose row was withdrawn. Those without a row are only reported: another gateway may use the same
   * prefix, and its files must not be lost. A younger one may still get its row.
   */
  private async unknownOf(
    objects: readonly ListedObject[],
    rows: BlobRows,
    listedMs: number,
  ): Promise<readonly string[]> {
    const ours = objects.filter(({ name }) => DIGEST.test(name))
    const known = await rows.statesOf(ours.map(({ name }) => name))
    for (const { name } of ours) {
      if (known.get(name) === 'withdrawn') await this.client.ask({ method: 'DELETE', name })
    }
    const isOld = ({ modifiedMs }: ListedObject): boolean => modifiedMs < listedMs - s3Bounds.orphanMs
    return ours.filter((object) => !known.has(object.name) && isOld(object)).map(({ name }) => name)
  }

  private async missingOf(
    objects: readonly ListedObject[],
    rows: BlobRows,
    { listedMs, ...range }: { readonly above: string; readonly upTo: string | undefined; readonly listedMs: number },
  ): Promise<readonly string[]> {
    const there = new Set(objects.map(({ name }) => name))
    const missing: string[] = []
    for (let above = range.above; ;) {
      const some = await rows.keptBetween({ ...range, above }, listedMs - LIST_AGE_MS, PAGE_MAX)
      missing.push(...some.filter((name) => !there.has(name)))
      if (some.length < PAGE_MAX) return missing
      above = some.at(-1) ?? ''
    }
  }

  /** Ends uploads that a process left unfinished. They are older than any upload takes. */
  private async endUploads(): Promise<readonly string[] | S3Failure> {
    const { prefix } = this.client.settings
    const answer = await this.client.ask({ method: 'GET', query: { uploads: '', prefix } })
    if (answer.kind === 'failed') return answer
    const ended: string[] = []
    for (const [, text = ''] of answer.text.matchAll(/<Upload>(.*?)<\/Upload>/gs)) {
      const name = unescapedXml(tagOf(text, 'Key')).slice(prefix.length)
      const uploadId = unescapedXml(tagOf(text, 'UploadId'))
      const isStale = Date.parse(tagOf(text, 'Initiated')) < Date.now() - s3Bounds.orphanMs
      if (!DIGEST.test(name) || !isStale) continue
      const done = await this.client.ask({ method: 'DELETE', name, query: { uploadId } })
      if (done.kind === 'done') ended.push(name)
    }
    return ended
  }
}

const tagOf = (text: string, tag: string): string => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1] ?? ''
