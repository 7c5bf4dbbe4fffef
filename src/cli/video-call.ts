/** One video over the public API: it is created, polled, and written to a file. */
import { closeSync, openSync, writeSync } from 'node:fs'
import type { IncomingResponse } from '../outbound/exchange.ts'
import { outbound } from '../outbound/send.ts'
import type { Stop } from '../outbound/stop.ts'
import { readText } from '../outbound/text.ts'
import { MIB } from '../lib/primitives/units.ts'

export type VideoCall = {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly key: string
  readonly stop: Stop
}

/** The fields of a task that are read. */
export type VideoTaskView = {
  readonly id: string
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed'
  readonly progress?: number
  readonly usage?: { readonly total_tokens: number }
  readonly error?: { readonly message?: string; readonly code?: string | null }
}

export type CreatedVideo = {
  readonly task: VideoTaskView
  readonly requestId: string | null
  readonly heldUsd: string | null
}
export type VideoCallFailure =
  | {
      readonly kind: 'refused'
      readonly code: string
      readonly message: string
      readonly requestId?: string | null
    }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'unreachable'; readonly message: string }

const ANSWER_BYTES_MAX = MIB
const LOOK_EVERY_MS = 1_000
/** A server that restarts is back within this number of polls. */
const SILENT_LOOKS_MAX = 60

type Answer = { readonly status: number; readonly task: VideoTaskView; readonly response: IncomingResponse }

async function ask(call: VideoCall, path: string, body?: string): Promise<Answer | VideoCallFailure> {
  const { baseUrl, key, stop } = call
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const method = body === undefined ? 'GET' : 'POST'
  const given = body === undefined ? {} : { body }
  const sent = await outbound.send({ url: baseUrl + path, method, headers, stop, reach: 'private', ...given })
  if (stop.isStopped) return { kind: 'interrupted' }
  if (sent.kind === 'network') return { kind: 'unreachable', message: sent.message }
  const { response } = sent
  const task = parse(await readText(response, ANSWER_BYTES_MAX))
  if (response.status === 200 && task?.id !== undefined) return { status: response.status, task, response }
  const { code, message } = task?.error ?? {}
  const fallback = `the server answered ${response.status}`
  const requestId = response.headers.get('x-request-id') ?? null
  return { kind: 'refused', code: code ?? 'not_an_answer', message: message ?? fallback, requestId }
}

function parse(text: string | undefined): VideoTaskView | undefined {
  try {
    return JSON.parse(text ?? '') as VideoTaskView
  } catch {
    return undefined // The caller reports it.
  }
}

export async function createVideo(call: VideoCall, body: object): Promise<CreatedVideo | VideoCallFailure> {
  const answer = await ask(call, '/videos', JSON.stringify(body))
  if ('kind' in answer) return answer
  const header = (name: string): string | null => answer.response.headers.get(name) ?? null
  return { task: answer.task, requestId: header('x-request-id'), heldUsd: header('x-tollgate-held-usd') }
}

/** Polls until the task has ended. It tolerates a server that does not answer for a while. */
export async function watchVideo(
  call: VideoCall,
  id: string,
  onLook: (task: VideoTaskView) => void,
): Promise<VideoTaskView | VideoCallFailure> {
  for (let silent = 0; ;) {
    const answer = await ask(call, `/videos/${id}`)
    if ('kind' in answer) {
      silent++
      const isOver = answer.kind === 'interrupted' || silent > SILENT_LOOKS_MAX
      if (isOver || (answer.kind === 'refused' && answer.code === 'task_not_found')) return answer
    } else {
      silent = 0
      const { task } = answer
      onLook(task)
      if (task.status === 'completed' || task.status === 'failed') return task
    }
    await pause(call.stop, LOOK_EVERY_MS)
  }
}

async function pause(stop: Stop, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  stop.target = { cancel: resolve }
  await promise
  clearTimeout(timer)
  stop.target = undefined
}

/** Writes the video to a file. Returns the number of its bytes, or the failure. */
export async function fetchVideo(
  { baseUrl, stop }: VideoCall,
  id: string,
  file: string,
): Promise<number | VideoCallFailure> {
  const url = `${baseUrl}/videos/${id}/content`
  const sent = await outbound.send({ url, method: 'GET', headers: {}, stop, reach: 'private' })
  if (stop.isStopped) return { kind: 'interrupted' }
  if (sent.kind === 'network') return { kind: 'unreachable', message: sent.message }
  const { response } = sent
  if (response.status !== 200) {
    const { code, message } = parse(await readText(response, ANSWER_BYTES_MAX))?.error ?? {}
    return { kind: 'refused', code: code ?? 'not_a_video', message: message ?? `answered ${response.status}` }
  }
  const bytes = await writeBody(response, file)
  if (bytes !== undefined) return bytes
  return stop.isStopped ? { kind: 'interrupted' } : { kind: 'unreachable', message: 'the video broke off' }
}

function writeBody(response: IncomingResponse, path: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const file = openSync(path, 'w')
  let bytes = 0
  const take = (part: Buffer): void => {
    for (let at = 0; at < part.length;) at += writeSync(file, part, at, part.length - at)
    bytes += part.length
  }
  response.deliver({
    part: take,
    end(last) {
      take(last)
      resolve(bytes)
    },
    broken: () => resolve(undefined),
  })
  return promise.finally(() => closeSync(file))
}
