/** AI MediaKit makes a video sharper, larger or smoother, as a separate task. */
import { z } from 'zod'
import { complain } from '../complaint.ts'
import type { SandboxReply } from '../reply.ts'
import type { SandboxCall, VendorRoute } from '../route.ts'
import { mediaKitVoice, refuseAsMediaKit } from './ark-voice.ts'
import type { Film } from './film.ts'
import { jobStateOf, type SandboxJob, type Jobs } from './jobs.ts'
import { followLink, linkTo, steerByJob } from './link.ts'
import { resolutionNames, scaledTo, videoSidesOf } from './sides.ts'
import { safeParse } from '../../src/lib/json/safe-parse.ts'

const enhanceRequest = z.strictObject({
  video_url: z.string().regex(/^https?:\/\//, 'It is no address'),
  scene: z.enum(['common', 'ugc', 'short_series', 'aigc', 'old_film']).optional(),
  tool_version: z.enum(['standard', 'professional']).optional(),
  resolution: z.enum(resolutionNames).optional(),
  resolution_limit: z.int().min(64).max(2_160).optional(),
  fps: z.int().min(1).max(120).optional(),
  bitrate_level: z.enum(['low', 'medium', 'high']).optional(),
  callback_args: z.string().optional(),
  client_token: z.string().min(1).max(64).optional(),
})

type EnhanceRequest = z.infer<typeof enhanceRequest>

const BASES = ['/v1', '/api/v1']
/** The number of remembered tokens that identify repeated requests. */
const TOKENS_MAX = 20_000

export function mediaKitRoutes(jobs: Jobs): readonly VendorRoute[] {
  const shared = { kind: 'vendor', voice: mediaKitVoice } as const
  const idByToken = new Map<string, string>()
  return BASES.flatMap((base): VendorRoute[] => [
    {
      ...shared,
      method: 'POST',
      path: `${base}/tools/enhance-video`,
      steps: ['upscale', 'submit'],
      steer: ({ body }) => steerByJob(jobs, sourceOf(body, jobs)?.id ?? ''),
      answer: (call) => enhance(call, jobs, idByToken),
    },
    {
      ...shared,
      method: 'GET',
      path: `${base}/tasks/*`,
      steps: ['upscale', 'poll'],
      steer: ({ tail }) => steerByJob(jobs, tail),
      answer: (call) => show(call, jobs),
    },
  ])
}

function sourceOf(body: unknown, jobs: Jobs): SandboxJob | undefined {
  const { video_url: link } = Object(body) as { video_url?: unknown }
  const job = typeof link === 'string' ? followLink(link, jobs) : undefined
  return typeof job === 'object' ? job : undefined
}

function enhance({ body, faults }: SandboxCall, jobs: Jobs, idByToken: Map<string, string>): SandboxReply {
  const parsed = safeParse(enhanceRequest, body, { reportInput: true })
  if (!parsed.success) return refuseAsMediaKit(400, complain(parsed.error))
  const request = parsed.data
  if (request.resolution !== undefined && request.resolution_limit !== undefined) {
    const message = 'resolution and resolution_limit exclude each other.'
    return refuseAsMediaKit(400, { message, code: 'invalid_value', param: 'resolution_limit' })
  }
  const { client_token: token, video_url: link, ...wish } = request
  const known = token === undefined ? undefined : jobs.find(idByToken.get(token) ?? '')
  if (known) return accepted(known)
  const source = sourceOf(body, jobs)
  const job = jobs.start({
    prefix: 'amk-tool-',
    stage: 'upscale',
    film: source ? better(source.film, request) : NOTHING,
    faults,
    said: source?.later ?? {},
    fingerprint: source ? [source.id, wish] : [link, wish],
    about: {},
    isUnreadable: source === undefined,
  })
  if (token !== undefined) idByToken.set(token, job.id)
  for (const oldest of idByToken.keys()) {
    if (idByToken.size <= TOKENS_MAX) break
    idByToken.delete(oldest)
  }
  return accepted(job)
}

const NOTHING: Film = { width: 2, height: 2, fps: 1, seconds: 1, seed: 0, audio: 'none' }

const accepted = ({ id }: SandboxJob): SandboxReply => ({
  kind: 'json',
  status: 200,
  body: { success: true, task_id: id, request_id: String(Date.now()) },
})

function better(film: Film, { resolution, resolution_limit: edge, fps }: EnhanceRequest): Film {
  const larger = resolution && videoSidesOf(resolution, film.width / film.height)
  return { ...film, ...(larger ?? (edge === undefined ? {} : scaledTo(edge, film))), fps: fps ?? film.fps }
}

const STATUSES = {
  queued: 'queued',
  running: 'running',
  succeeded: 'completed',
  failed: 'failed',
  expired: 'failed',
  cancelled: 'canceled',
} as const

function show({ tail, origin }: SandboxCall, jobs: Jobs): SandboxReply {
  const job = jobs.look(tail, 'upscale')
  if (!job) return refuseAsMediaKit(404, { message: `There is no task ${tail}.`, code: 'not_found' })
  return { kind: 'json', status: 200, body: shown(job, origin) }
}

function shown(job: SandboxJob, origin: string): object {
  const status = STATUSES[jobStateOf(job)]
  const common = { success: true, task_id: job.id, request_id: String(Date.now()), task_type: 'enhance-video', status }
  if (status === 'failed') return { ...common, error: errorOf(job) }
  if (status !== 'completed') return common
  const { width, height, fps, seconds } = job.film
  const link = linkTo(job, origin)
  const result = { video_url: link, play_url: link, resolution: `${width}x${height}`, duration: seconds, fps }
  return { ...common, result }
}

function errorOf({ end }: SandboxJob): object {
  if (end === 'unreadable') return { code: 'InvalidVideoUrl', message: 'The video cannot be downloaded.' }
  if (end === 'filtered') return { code: 'SensitiveContentDetected', message: 'The video may be sensitive.' }
  return { code: 'InternalError', message: 'The task failed.' }
}
