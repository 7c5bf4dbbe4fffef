/**
 * A vendor of videos on a socket, in the documented wire formats of Ark, MediaKit and Veo. The test sets the number of
 * polls that a task takes, and its faults.
 */

export type VendorTask = {
  readonly id: string
  readonly stage: 'video' | 'upscale'
  /** The body it was made with. */
  readonly body: Record<string, unknown>
  readonly createdAtMs: number
  polls: number
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired'
  code: string | undefined
}

/** Undefined: as usual. */
type Reply = Response | undefined

export type VendorPlan = {
  /** Looks until it has made the video. */
  looks: number
  /** What answers instead, where it says so. */
  submit: ((body: Record<string, unknown>) => Reply | Promise<Reply>) | undefined
  poll: ((task: VendorTask) => Reply | Promise<Reply>) | undefined
  file: ((request: Request) => Reply | Promise<Reply>) | undefined
  /** Of a finished task, besides its usual fields. */
  answer: Record<string, unknown>
  /** What a task ends as. */
  end: { status: VendorTask['status']; code?: string }
  upscaleEnd: 'completed' | 'failed'
}

export type VideoVendor = {
  readonly origin: string
  /** All tasks that were made, in order. */
  readonly tasks: VendorTask[]
  readonly plan: VendorPlan
  /** Authorization headers by path. */
  readonly seen: { path: string; method: string; authorization: string | null; key: string | null }[]
  count(stage: VendorTask['stage']): number
  /** Makes a task, whatever its client is told: its id. */
  make(body: Record<string, unknown>): string
  reset(): void
  stop(): Promise<void>
}

const json = (value: object, status = 200): Response => Response.json(value, { status })
export const arkError = (status: number, code: string, message = 'no'): Response =>
  json({ error: { code, message: `${message} Request id: 0217`, type: 'x', param: '' } }, status)

const usual = (): VendorPlan => ({
  looks: 2,
  submit: undefined,
  poll: undefined,
  file: undefined,
  answer: {},
  end: { status: 'succeeded' },
  upscaleEnd: 'completed',
})

const box = (type: string, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + body.length)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, body])
}

/** A file with the boxes of an MP4, and nothing to show. */
export function emptyMp4(seconds: number, mediaBytes = 1_000): Buffer {
  const mvhd = Buffer.alloc(100)
  mvhd.writeUInt32BE(1_000, 12)
  mvhd.writeUInt32BE(seconds * 1_000, 16)
  const media = Buffer.alloc(mediaBytes)
  for (let i = 0; i < mediaBytes; i++) media[i] = (i * 7 + (i >> 8)) & 255
  return Buffer.concat([
    box('ftyp', Buffer.from('isom\0\0\0\0isom')),
    box('moov', box('mvhd', mvhd)),
    box('mdat', media),
  ])
}

type Answer = (request: Request, id: string) => Promise<Response> | Response
type Route = readonly [pattern: RegExp, method: 'GET' | 'POST', answer: Answer]
const readBody = async (request: Request): Promise<Record<string, unknown>> =>
  (await request.json()) as Record<string, unknown>

/** The tasks of a vendor and what becomes of them. */
class Works {
  readonly tasks: VendorTask[] = []
  readonly plan = usual()
  origin = ''
  private serial = 0

  make(stage: VendorTask['stage'], body: Record<string, unknown>): VendorTask {
    const id = stage === 'video' ? `cgt-20261121-${++this.serial}` : `amk-tool-${++this.serial}`
    const task: VendorTask = { id, stage, body, createdAtMs: Date.now(), polls: 0, status: 'queued', code: undefined }
    this.tasks.push(task)
    return task
  }

  /** A look at a task, which may be its last. */
  look(id: string): VendorTask | undefined {
    const { plan } = this
    const task = this.tasks.find((one) => one.id === id)
    if (!task) return undefined
    if (++task.polls < plan.looks) task.status = 'running'
    else if (task.stage === 'video') Object.assign(task, { status: plan.end.status, code: plan.end.code })
    else task.status = plan.upscaleEnd === 'completed' ? 'succeeded' : 'failed'
    return task
  }

  fileUrl({ id }: VendorTask): string {
    return `${this.origin}/files/${id}.mp4?X-Tos-Expires=86400`
  }

  arkTask(task: VendorTask): object {
    const { id, status, body, createdAtMs, code } = task
    const { model, seed, resolution, ratio = '16:9', duration } = body
    const seconds = duration === -1 ? 7 : Number(duration)
    const common = { id, model, status, seed, resolution, ratio, created_at: Math.floor(createdAtMs / 1000) }
    if (status === 'failed') {
      return { ...common, error: { code: code ?? 'InternalServiceError', message: 'secret words' } }
    }
    if (status !== 'succeeded') return { ...common, duration, error: null }
    const usage = { completion_tokens: 21_780 * seconds, total_tokens: 21_780 * seconds }
    const content = { video_url: this.fileUrl(task) }
    return { ...common, content, usage, duration: seconds, framespersecond: 24, error: null, ...this.plan.answer }
  }
}

const arkRoutes = (works: Works): Route[] => [
  [
    /^\/api\/contents\/generations\/tasks$/,
    'POST',
    async (request) => {
      const body = await readBody(request)
      return (await works.plan.submit?.(body)) ?? json({ id: works.make('video', body).id })
    },
  ],
  [
    /^\/api\/contents\/generations\/tasks$/,
    'GET',
    () => {
      const items = works.tasks.filter(({ stage }) => stage === 'video').toReversed()
      return json({ total: items.length, items: items.slice(0, 100).map((task) => works.arkTask(task)) })
    },
  ],
  [
    /^\/api\/contents\/generations\/tasks\/([\w-]+)$/,
    'GET',
    async (_, id) => {
      const task = works.look(id)
      if (!task) return arkError(404, 'ResourceNotFound')
      return (await works.plan.poll?.(task)) ?? json(works.arkTask(task))
    },
  ],
]

const kitRoutes = (works: Works): Route[] => [
  [
    /^\/kit\/tools\/enhance-video$/,
    'POST',
    async (request) => {
      const body = await readBody(request)
      const refused = await works.plan.submit?.(body)
      if (refused) return refused
      const token = body['client_token']
      const known = works.tasks.find((one) => one.stage === 'upscale' && one.body['client_token'] === token)
      return json({ task_id: (known ?? works.make('upscale', body)).id, request_id: 'r' })
    },
  ],
  [
    /^\/kit\/tasks\/([\w-]+)$/,
    'GET',
    async (_, id) => {
      const task = works.look(id)
      if (!task) return json({ error: { code: 'NotFound', message: 'no task' } }, 404)
      const special = await works.plan.poll?.(task)
      if (special) return special
      const status = task.status === 'succeeded' ? 'completed' : task.status
      const result = task.status === 'succeeded' ? { play_url: works.fileUrl(task), duration: 5 } : {}
      return json({ task_id: id, task_type: 'enhance-video', status, result })
    },
  ],
]

const NO_OPERATION = { error: { code: 404, status: 'NOT_FOUND', message: 'no' } }

const veoRoutes = (works: Works): Route[] => [
  [
    /^\/veo\/models\/[\w.-]+:predictLongRunning$/,
    'POST',
    async (request) => {
      const body = await readBody(request)
      return (await works.plan.submit?.(body)) ?? json({ name: `models/v/operations/${works.make('video', body).id}` })
    },
  ],
  [
    /^\/veo\/models\/v\/operations\/([\w-]+)$/,
    'GET',
    (_, id) => {
      const task = works.look(id)
      if (!task) return json(NO_OPERATION, 404)
      const name = `models/v/operations/${id}`
      if (task.status !== 'succeeded') return json({ name })
      const generatedSamples = [{ video: { uri: `${works.origin}/veo/files/${id}:download?alt=media` } }]
      const response = { generateVideoResponse: { generatedSamples }, ...works.plan.answer }
      return json({ name, done: true, response })
    },
  ],
  [
    /^\/veo\/files\/([\w-]+):download$/,
    'GET',
    (request, id) =>
      request.headers.get('x-goog-api-key') === 'sk-video-secret'
        ? new Response(null, { status: 302, headers: { location: `/files/${id}.mp4` } })
        : json({ error: { code: 403, status: 'PERMISSION_DENIED', message: 'no key' } }, 403),
  ],
  [
    /^\/vertex\/models\/[\w.-]+:(predictLongRunning|fetchPredictOperation)$/,
    'POST',
    async (request, action) => {
      const body = await readBody(request)
      if (action === 'predictLongRunning') {
        return json({ name: `projects/p/locations/l/models/v/operations/${works.make('video', body).id}` })
      }
      const name = String(body['operationName'])
      const task = works.look(name.split('/').at(-1) ?? '')
      if (!task) return json(NO_OPERATION, 404)
      if (task.status !== 'succeeded') return json({ name })
      const videos = [{ bytesBase64Encoded: emptyMp4(8).toString('base64'), mimeType: 'video/mp4' }]
      return json({ name, done: true, response: { videos, ...works.plan.answer } })
    },
  ],
]

const fileRoutes = (works: Works): Route[] => [
  [
    /^\/files\/([\w-]+)\.mp4$/,
    'GET',
    async (request) => (await works.plan.file?.(request)) ?? new Response(emptyMp4(5)),
  ],
]

export function startVideoVendor(): VideoVendor {
  const works = new Works()
  const seen: VideoVendor['seen'] = []
  const routes = [arkRoutes, kitRoutes, veoRoutes, fileRoutes].flatMap((of) => of(works))
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const authorization = request.headers.get('authorization')
      seen.push({ path: pathname, method: request.method, authorization, key: request.headers.get('x-goog-api-key') })
      for (const [pattern, method, answer] of routes) {
        const match = pattern.exec(pathname)
        if (match && method === request.method) return answer(request, match[1] ?? '')
      }
      return json({ error: { code: 'NotFound', message: pathname } }, 404)
    },
  })
  works.origin = server.url.origin
  const { tasks, plan, origin } = works
  return {
    origin,
    tasks,
    plan,
    seen,
    count: (stage) => tasks.filter((task) => task.stage === stage).length,
    make: (body) => works.make('video', body).id,
    reset() {
      Object.assign(plan, usual())
      tasks.length = 0
      seen.length = 0
    },
    stop: () => server.stop(true),
  }
}

/** A declaration with a model for each kind of vendor, at prices that are easy to add up. */
export const videoYaml = (origin: string): string => `
providers:
  ark: { preset: ark, base_url: '${origin}/api', allow_private: true, key: sk-video-secret }
  kit: { preset: mediakit, base_url: '${origin}/kit', allow_private: true, key: sk-kit-secret }
  veo: { preset: gemini, base_url: '${origin}/veo', allow_private: true, key: sk-video-secret }
  keyed:
    preset: ark
    base_url: '${origin}/api'
    allow_private: true
    keys: [sk-video-first, { key: sk-video-second, concurrent_requests: 1 }]
models:
  keyed:
    kind: video
    price: { output: 7 }
    video: { family: seedance-2-fast }
    offers: [{ provider: keyed, model: doubao-seedance-2-0-fast-260128 }]
  seed:
    kind: video
    price: { each: { second: 0.10, second/1080p: 0.20, upscale: 0.02, upscale/2k: 0.03 } }
    video: { family: seedance-2, upscaler: kit }
    offers:
      - { provider: ark, model: doubao-seedance-2-0-260128, cost: { each: { token: 0.000007, upscale: 0.01 } } }
  seed-fast:
    kind: video
    price: { output: 7 }
    video: { family: seedance-2-fast }
    offers: [{ provider: ark, model: doubao-seedance-2-0-fast-260128 }]
  veo:
    kind: video
    price: { each: { second: 0.40 } }
    video: { family: veo-3 }
    offers: [{ provider: veo, model: veo-3 }]
  words:
    price: { input: 1, output: 1 }
    offers: [{ provider: sandbox, model: sandbox-mini }]
`
