import type { FaultStep } from '../faults.ts'
import { hashOf } from '../random.ts'
import { refuse, type SandboxReply } from '../reply.ts'
import type { SandboxCall, FaultSteering, VendorRoute } from '../route.ts'
import type { SandboxJob, Jobs, Stage } from './jobs.ts'
import type { Shelf } from './shelf.ts'

const PATHS = { generate: '/v1/sandbox-videos/', upscale: '/v1/sandbox-upscaled/' } as const

/** A link that needs no key and expires, like those of object stores. The hash shows whether it is complete. */
export function linkTo(job: SandboxJob, origin: string): string {
  const { id, stage, linkMs } = job
  const path = `${PATHS[stage]}${id}.mp4`
  const isDead = job.links++ < job.deadLinks
  const date = String(Date.now() - (isDead ? linkMs + 1 : 0))
  const query = {
    'X-Tos-Date': date,
    'X-Tos-Expires': String(linkMs / 1000),
    'X-Tos-Signature': sign(path, date, linkMs),
  }
  return `${origin}${path}?${new URLSearchParams(query).toString()}`
}

const sign = (path: string, date: string, linkMs: number): string => hashOf(`${path} ${date} ${linkMs}`).toString(16)

/** The job of a valid link, or the fault of the link. */
export function followLink(text: string, jobs: Jobs): SandboxJob | 'malformed' | 'expired' | 'unknown' {
  const url = URL.parse(text)
  const query = url?.searchParams
  const [date = '', expires = '', signature] = ['Date', 'Expires', 'Signature'].map(
    (name) => query?.get(`X-Tos-${name}`) ?? '',
  )
  const linkMs = Math.round(Number(expires) * 1000)
  if (!url || signature !== sign(url.pathname, date, linkMs)) return 'malformed'
  if (Date.now() > Number(date) + linkMs) return 'expired'
  return jobs.find(idIn(url.pathname)) ?? 'unknown'
}

const idIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/\.mp4$/, '')

/** Counts opened links, and those opened with a key. A client must not send its key to a link. */
export type LinkCounts = { opened: number; with_credentials: number }

/** `GET /v1/sandbox-videos/{id}.mp4`, and the same for upscaled videos. */
export function linkRoutes(jobs: Jobs, shelf: Shelf, counts: LinkCounts): readonly VendorRoute[] {
  const routeOf = (stage: Stage, steps: readonly FaultStep[]): VendorRoute => ({
    kind: 'vendor',
    method: 'GET',
    path: `${PATHS[stage]}*`,
    isOpen: true,
    steps,
    answer: (call) => open(call, PATHS[stage], { jobs, shelf, counts }),
    steer: ({ tail }) => steerByJob(jobs, idIn(tail)),
  })
  return [routeOf('generate', ['download']), routeOf('upscale', ['upscale', 'download'])]
}

/** The knobs from the creation of a task, for its later requests. */
export function steerByJob(jobs: Jobs, id: string): FaultSteering {
  return { parsed: { kind: 'knobs', knobs: jobs.find(id)?.later ?? {} }, scope: id }
}

type Room = { jobs: Jobs; shelf: Shelf; counts: LinkCounts }

async function open(
  { origin, tail, query, headers, faults }: SandboxCall,
  path: string,
  { jobs, shelf, counts }: Room,
): Promise<SandboxReply> {
  counts.opened += 1
  if (headers?.has('authorization') || headers?.has('x-goog-api-key')) counts.with_credentials += 1
  const url = new URL(`${origin}${path}${tail}?${query?.toString() ?? ''}`)
  const job = followLink(url.href, jobs)
  if (job === 'unknown') return refuse(404, { message: 'The specified key does not exist.', code: 'NoSuchKey' })
  if (job === 'expired') return refuse(403, { message: 'Request has expired.', code: 'AccessDenied' })
  if (job === 'malformed')
    return refuse(403, { message: 'The signature does not match.', code: 'SignatureDoesNotMatch' })
  const hop = Number(query?.get('hop') ?? 0)
  if (hop < (faults.redirects ?? 0)) {
    url.searchParams.set('hop', String(hop + 1))
    return { kind: 'json', status: 302, body: {}, headers: { location: url.href } }
  }
  return { kind: 'bytes', contentType: 'video/mp4', bytes: await shelf.fetch(job.film) }
}
