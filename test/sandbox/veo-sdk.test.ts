/**
 * Google's official SDK creates videos directly at the sandbox. Version 3.1 creates them at Vertex AI only. For the
 * Gemini API it still reads the operation, and the file with its key and redirect.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GenerateVideosOperation, GoogleGenAI, type GeneratedVideo } from '@google/genai'
import { startSandbox } from '../../sandbox/server.ts'

const KEY = 'sk-vendor'
let sandbox: ReturnType<typeof startSandbox>
let baseUrl = ''
const folder = mkdtempSync(join(tmpdir(), 'tollgate-veo-'))

beforeAll(() => {
  sandbox = startSandbox({ apiKey: KEY, taskMs: 200 })
  baseUrl = new URL(sandbox.url).origin
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await sandbox.stop()
})

/** A token that is there already: nobody is asked for one. */
const authClient = {
  getRequestHeaders: () => Promise.resolve(new Headers({ authorization: `Bearer ${KEY}` })),
} as never

const sidesOf = (file: Buffer): number[] => {
  const track = file.indexOf('tkhd') + 4
  return [file.readUInt16BE(track + 76), file.readUInt16BE(track + 80)]
}

async function awaited(ai: GoogleGenAI, started: GenerateVideosOperation): Promise<GeneratedVideo> {
  let operation = started
  expect(operation.done).toBeFalsy()
  while (!operation.done) {
    await Bun.sleep(50)
    operation = await ai.operations.getVideosOperation({ operation })
  }
  expect(operation.error).toBeUndefined()
  const [made] = operation.response?.generatedVideos ?? []
  if (!made) throw new Error('There is no video')
  return made
}

test('Vertex AI: a video is asked for, awaited, and there', async () => {
  const ai = new GoogleGenAI({
    vertexai: true,
    project: 'p',
    location: 'us-central1',
    googleAuthOptions: { authClient },
    httpOptions: { baseUrl, apiVersion: 'v1' },
  })
  const operation = await ai.models.generateVideos({
    model: 'sandbox-video',
    source: { prompt: 'A boat on a lake' },
    config: { aspectRatio: '9:16', durationSeconds: 6, resolution: '720p', numberOfVideos: 1, negativePrompt: 'rain' },
  })
  const made = await awaited(ai, operation)
  expect(made.video?.mimeType).toBe('video/mp4')
  expect(sidesOf(Buffer.from(made.video?.videoBytes ?? '', 'base64'))).toEqual([720, 1280])
  const failing = { prompt: 'A boat [sandbox: task-ms=0, fails]' }
  const refused = await ai.models.generateVideos({ model: 'sandbox-video', source: failing })
  const over = await ai.operations.getVideosOperation({ operation: refused })
  expect(over).toMatchObject({ done: true, error: { code: 13 } })
})

test('Gemini API: an operation is awaited and its file downloaded', async () => {
  const ai = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl, apiVersion: 'v1beta' } })
  const made = await fetch(`${baseUrl}/v1beta/models/sandbox-video:predictLongRunning`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': KEY },
    body: JSON.stringify({ instances: [{ prompt: 'A boat' }], parameters: { durationSeconds: 4 } }),
  })
  const { name } = (await made.json()) as { name: string }
  const video = await awaited(ai, Object.assign(new GenerateVideosOperation(), { name }))
  const path = join(folder, 'boat.mp4')
  // The SDK finds the name of a file in addresses of https only.
  const id = /files\/\w+/.exec(video.video?.uri ?? '')?.[0] ?? ''
  await ai.files.download({ file: id, downloadPath: path })
  expect(sidesOf(readFileSync(path))).toEqual([1280, 720])
})
