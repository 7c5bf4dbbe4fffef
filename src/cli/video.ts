import { formatUsd, parseUsd } from '../domain/money.ts'
import { upscaleResolutions, videoRatios, videoResolutions } from '../domain/video.ts'
import { Stop } from '../outbound/stop.ts'
import { safeText } from '../lib/primitives/safe-text.ts'
import { accessOf, accessOptions, costOnRecord } from './access.ts'
import { command } from './command.ts'
import { exitWith, failed, refusedCall, shown, usage, type CommandOutcome } from './outcome.ts'
import type { Program } from './program.ts'
import { usd } from './table.ts'
import type { Terminal } from './terminal.ts'
import { text, wholeNumber, type ValueRule } from './values.ts'
import {
  createVideo,
  fetchVideo,
  watchVideo,
  type CreatedVideo,
  type VideoCallFailure,
  type VideoCall,
  type VideoTaskView,
} from './video-call.ts'

const INTERRUPTED = 130

const oneOf = (placeholder: string, values: readonly string[]): ValueRule => ({
  placeholder,
  problem: (given) => (values.includes(given) ? undefined : `must be one of ${values.join(', ')}`),
})
const seconds: ValueRule = {
  placeholder: 'SECONDS',
  problem: (given) =>
    /^(?:-1|\d{1,2})$/.test(given) ? undefined : 'must be a number of seconds, or -1 for what the model chooses',
}

export const videoCommand = command({
  name: 'video',
  summary: 'Makes a video over the public API, shows its progress, and writes it to a file.',
  examples: [
    ["tollgate video 'a lighthouse at dusk' --duration 5 -o out.mp4"],
    ["tollgate video 'a paper boat' --resolution 720p --upscale 2k -o boat.mp4"],
    ["tollgate video 'a paper boat' --no-wait", 'prints the id of the task and exits'],
  ],
  positionals: [{ name: 'prompt', summary: 'what to show', value: text('PROMPT'), takes: 'many' }],
  options: {
    output: { summary: 'file to write; needed unless --no-wait', value: text('FILE'), short: 'o' },
    'no-wait': { summary: 'print the id of the task and do not wait for it' },
    model: { summary: 'model to ask (default: the first that makes videos)', value: text('MODEL') },
    duration: { summary: 'seconds, or -1 for what the model chooses', value: seconds },
    resolution: { summary: '480p, 720p or 1080p', value: oneOf('RESOLUTION', videoResolutions) },
    ratio: { summary: '16:9, 4:3, 1:1, 3:4, 9:16, 21:9 or adaptive', value: oneOf('RATIO', videoRatios) },
    seed: { summary: 'the same seed makes much the same video', value: wholeNumber('N', { min: 0, max: 2 ** 32 - 1 }) },
    upscale: { summary: 'upscale it to 720p, 1080p, 2k or 4k', value: oneOf('RESOLUTION', upscaleResolutions) },
    ...accessOptions,
  },
  run: async ({ args, options, program, terminal }) => {
    const access = await accessOf('video', options, program)
    if (access.kind === 'none') return access.outcome
    const prompt = args.prompt.join(' ')
    if (prompt === '') return usage('video: the prompt is empty')
    const { output, duration, resolution, ratio, seed, upscale } = options
    if (output === undefined && !options['no-wait']) return usage('video: --output FILE is needed, or --no-wait')
    const model = options.model ?? (await firstModel(program))
    if (model === undefined) return usage('video: --model is needed: the server of this folder makes no videos')
    const body = {
      model,
      content: [{ type: 'text', text: prompt }],
      resolution,
      ratio,
      ...(duration === undefined ? {} : { duration: Number(duration) }),
      ...(seed === undefined ? {} : { seed: Number(seed) }),
      ...(upscale === undefined ? {} : { super_resolution_config: { resolution: upscale } }),
    }
    const stop = new Stop()
    process.once('SIGINT', () => stop.stop())
    const call = { baseUrl: access.baseUrl.replace(/\/+$/, ''), key: access.key, stop }
    const place = { program, terminal, call }
    if (!terminal.json) terminal.talk(`asking ${model} …\n`)
    const made = await createVideo(call, body)
    if ('kind' in made) return refused(made, place, undefined)
    const { id } = made.task
    if (options['no-wait'] || output === undefined) return shown({ id, request_id: made.requestId }, `${id}\n`)
    return wait(made, output, place)
  },
})

/** The first model of the server of this folder that makes videos. */
async function firstModel(program: Program): Promise<string | undefined> {
  const result = await program.consult('model.list', {})
  const models = result?.ok ? (result.value as readonly { readonly id: string; readonly kind: string }[]) : []
  return models.find(({ kind }) => kind === 'video')?.id
}

type Place = { readonly program: Program; readonly terminal: Terminal; readonly call: VideoCall }

async function wait(made: CreatedVideo, output: string, place: Place): Promise<CommandOutcome> {
  const { terminal, call, program } = place
  const { id } = made.task
  const startedMs = performance.now()
  const secondsPassed = (): string => `${((performance.now() - startedMs) / 1000).toFixed(0)} s`
  const held = made.heldUsd === null ? '' : `, at most ${usd(made.heldUsd)}`
  let stage = ''
  const end = await watchVideo(call, id, ({ status, progress = 0 }) => {
    if (status === 'failed') return
    terminal.redraw(`${bar(progress)} ${stages[status]}, ${secondsPassed()}${held}`)
    if (status !== stage && !terminal.json && !process.stderr.isTTY) terminal.talk(`${stages[status]}\n`)
    stage = status
  })
  terminal.redraw('')
  if ('kind' in end) return refused(end, place, id)
  if (end.status === 'failed') {
    const { code, message = 'the video could not be made' } = end.error ?? {}
    return failed(code ?? 'failed', terminal.json ? message : `${message} Nothing was charged.`)
  }
  const bytes = await fetchVideo(call, id, output)
  if (typeof bytes !== 'number') return refused(bytes, place, id)
  const costUsd = await totalCost(program, made.requestId, call.baseUrl)
  return conclude(end, { output, bytes, costUsd, took: secondsPassed(), made })
}

const stages = { queued: 'waiting', in_progress: 'being made', completed: 'done' } as const

const BAR_CHARS = 30
function bar(progress: number): string {
  const full = Math.round((progress / 100) * BAR_CHARS)
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_CHARS - full)}] ${String(progress).padStart(3)} %`
}

type Conclusion = {
  readonly output: string
  readonly bytes: number
  readonly costUsd: string | null
  readonly took: string
  readonly made: CreatedVideo
}

function conclude(
  { id, usage: used }: VideoTaskView,
  { output, bytes, costUsd, took, made }: Conclusion,
): CommandOutcome {
  const tokens = used?.total_tokens
  const value = { file: output, bytes, id, usage: used ?? null, cost_usd: costUsd, request_id: made.requestId }
  const facts = [
    `${Math.ceil(bytes / 1024)} KiB`,
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ...(costUsd === null ? [] : [usd(costUsd)]),
    took,
  ]
  return shown(value, `${safeText(output)}\n`, { talk: `[${facts.join(', ')}]` })
}

/** An upscaling has a record of its own. */
async function totalCost(program: Program, requestId: string | null, baseUrl: string): Promise<string | null> {
  if (requestId === null) return null
  const [making, upscaling] = await Promise.all(
    [requestId, `${requestId}-upscale`].map((id) => costOnRecord(program, id, baseUrl)),
  )
  if (!making) return null
  return formatUsd((parseUsd(making) ?? 0n) + (parseUsd(upscaling ?? '0') ?? 0n))
}

function refused(end: VideoCallFailure, { terminal, call }: Place, id: string | undefined): CommandOutcome {
  const goesOn = id === undefined ? '' : `; the server goes on with the video ${id}: GET ${call.baseUrl}/videos/${id}`
  switch (end.kind) {
    case 'interrupted':
      if (!terminal.json) terminal.talk(`tollgate: interrupted${goesOn}\n`)
      return exitWith(INTERRUPTED)
    case 'unreachable':
      return failed('unreachable', `no answer from ${call.baseUrl} (${end.message})${goesOn}`)
    case 'refused':
      return refusedCall(end, terminal)
  }
}
