/** Downloads the finished file. It is written to disk as it arrives, examined, and refused if it is not a video. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { UnfinishedBlob } from '../blobs/blobs.ts'
import { egressToStranger } from '../domain/egress.ts'
import { videoBounds } from '../domain/video.ts'
import type { VideoSource } from '../formats/videos/adapter.ts'
import { readMp4 } from '../lib/primitives/mp4.ts'
import type { IncomingResponse } from '../outbound/exchange.ts'
import { follow } from '../outbound/follow.ts'
import { outbound } from '../outbound/send.ts'
import type { Headers } from '../upstream/access-tokens.ts'
import { sendAs } from '../upstream/credentials.ts'
import { InFlightAttempt } from '../upstream/in-flight-attempt.ts'
import type { VideoWorkerDeps } from './job.ts'
import type { VideoVendor } from './vendor.ts'
import { KIB } from '../lib/primitives/units.ts'

export type BroughtFile =
  | { readonly kind: 'brought'; readonly seconds: number | undefined }
  | { readonly kind: 'failed'; readonly message: string }
  /** The disk is full. That passes, and it is no fault of the vendor. */
  | { readonly kind: 'no_room' }

/** This failure is final, because the file will not become smaller. */
export const TOO_LARGE = 'the file is too large'

const failed = (message: string): BroughtFile => ({ kind: 'failed', message })

const NO_ROOM = 'the disk is full'

const writeProblem = ({ code, message }: NodeJS.ErrnoException): string =>
  code === 'ENOSPC' ? NO_ROOM : `the file cannot be written: ${message}`

type From = { readonly source: VideoSource; readonly vendor: Pick<VideoVendor<unknown>, 'provider' | 'preset'> }

/** Downloads the file of a finished video. */
export async function bringFile(deps: VideoWorkerDeps, blob: UnfinishedBlob, from: From): Promise<BroughtFile> {
  const { source } = from
  const problem =
    source.kind === 'inline'
      ? writeInline(blob.path, source.base64)
      : await download(deps, blob.path, source, from.vendor)
  if (problem === NO_ROOM) return { kind: 'no_room' }
  if (problem !== undefined) return failed(problem)
  const file = await open(blob.path, 'r')
  try {
    const read = await readMp4(file)
    return read.kind === 'mp4' ? { kind: 'brought', seconds: read.seconds } : failed('the file is not an MP4')
  } finally {
    await file.close()
  }
}

/** Writes the file in pieces. Decoded as a whole, it would be in memory twice. */
function writeInline(path: string, base64: string): string | undefined {
  const file = openSync(path, 'w', 0o600)
  try {
    for (let at = 0; at < base64.length; at += PIECE_CHARS) {
      writeAll(file, Buffer.from(base64.slice(at, at + PIECE_CHARS), 'base64'))
    }
  } catch (error) {
    return writeProblem(error as NodeJS.ErrnoException)
  } finally {
    closeSync(file)
  }
  return undefined
}
/** The length is a multiple of four, so each piece decodes to whole bytes. */
const PIECE_CHARS = 4 * 256 * KIB

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at)
}

type UrlSource = Extract<VideoSource, { kind: 'url' }>

/** Downloads the file. Returns the problem, or undefined if the whole file is there. */
async function download(
  { halt }: VideoWorkerDeps,
  path: string,
  { url, credential }: UrlSource,
  vendor: From['vendor'],
): Promise<string | undefined> {
  const isOwn = URL.parse(url)?.origin === new URL(vendor.provider.baseUrl).origin
  // The permission for private addresses and the credential are valid only for the provider's origin.
  const reach = isOwn ? vendor.provider.reach : 'public'
  const egress = isOwn ? vendor.provider.egress : egressToStranger(vendor.provider.egress)
  const { downloadHopsMax: hopsMax, downloadHeadTimeoutMs: timeoutMs, downloadStallMs } = videoBounds
  const flight = new InFlightAttempt(halt, timeoutMs)
  const overall = setTimeout(() => flight.abort(), videoBounds.downloadTimeoutMs)
  const get = (headers: Headers) =>
    follow(outbound, { url, headers, reach, egress, stop: flight.stop }, { hopsMax, timeoutMs })
  const sent =
    credential === 'same_origin' && isOwn
      ? await sendAs(vendor, get, {
          statusOf: (result) => (result.kind === 'response' ? result.response.status : undefined),
          discard: (result) => result.kind === 'response' && result.response.cancel(),
        })
      : await get({})
  try {
    if (sent.kind === 'failed') return `no credential: ${sent.failure.message}`
    if (sent.kind === 'network') return flight.failure(sent).message
    const { response } = sent
    if (response.status !== 200) {
      response.cancel()
      return `the download answered with status ${response.status}`
    }
    flight.watchdog.beat(downloadStallMs)
    return await writeBody(response, path, () => flight.watchdog.beat(downloadStallMs))
  } finally {
    clearTimeout(overall)
    flight.land()
  }
}

/** Writes the body. Nothing queues in memory, because each write ends before the next bytes are read. */
function writeBody(response: IncomingResponse, path: string, onProgress: () => void): Promise<string | undefined> {
  const file = openSync(path, 'w', 0o600)
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  let bytes = 0
  let problem: string | undefined
  const take = (part: Buffer): void => {
    if (problem !== undefined) return
    bytes += part.length
    try {
      if (bytes > videoBounds.fileBytesMax) problem = TOO_LARGE
      else writeAll(file, part)
    } catch (error) {
      problem = writeProblem(error as NodeJS.ErrnoException)
    }
    if (problem !== undefined) response.cancel()
    else onProgress()
  }
  response.deliver({
    part: take,
    end(last) {
      take(last)
      resolve(problem)
    },
    broken: (message) => resolve(problem ?? message),
  })
  return promise.finally(() => closeSync(file))
}
