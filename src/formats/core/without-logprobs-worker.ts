import type { WorkerRequest, WorkerResponse } from '../../lib/runtime/idle-worker.ts'
import { lightOf, type ReplyWithoutLogprobs } from './without-logprobs.ts'

declare const self: Worker

self.onmessage = ({ data: { id, question } }: MessageEvent<WorkerRequest<string>>) =>
  self.postMessage({ id, answer: lightOf(question) } satisfies WorkerResponse<ReplyWithoutLogprobs | undefined>)
