import type { Asked, Told } from '../lib/idle-worker.ts'
import { lightOf, type Light } from './light.ts'

declare const self: Worker

self.onmessage = ({ data: { id, question } }: MessageEvent<Asked<string>>) =>
  self.postMessage({ id, answer: lightOf(question) } satisfies Told<Light | undefined>)
