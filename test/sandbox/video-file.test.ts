/** The sandbox's videos, read by a foreign decoder. Without ffmpeg the test reports that it is missing. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shoot, type Film } from '../../sandbox/video/film.ts'
import { blocksAcross } from '../../sandbox/video/mosaic.ts'
import { VideoScene } from '../../sandbox/video/scene.ts'

const hasDecoder = Bun.which('ffmpeg') !== null && Bun.which('ffprobe') !== null
if (!hasDecoder) console.warn('SKIPPED: ffmpeg and ffprobe are not here, so no foreign decoder reads the videos')

// Decoding 96 frames of 4k takes seconds, more of them on a busy machine.
setDefaultTimeout(60_000)

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-film-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Its output; whatever it has to complain about is an error. */
async function run(program: string, ...args: string[]): Promise<Uint8Array> {
  const child = Bun.spawn([program, '-v', 'error', ...args], { stdout: 'pipe', stderr: 'pipe' })
  const [out, complaints, code] = await Promise.all([child.stdout.bytes(), child.stderr.text(), child.exited])
  expect(complaints).toBe('')
  expect(code).toBe(0)
  return out
}

async function filmed(film: Film): Promise<string> {
  const path = join(folder, `${Bun.hash(JSON.stringify(film)).toString(36)}.mp4`)
  await Bun.write(path, await shoot(film))
  return path
}

const films: Film[] = [
  { width: 854, height: 480, fps: 24, seconds: 4, seed: 1, audio: 'silent' },
  { width: 1280, height: 720, fps: 24, seconds: 5, seed: 2, audio: 'none' },
  { width: 628, height: 1466, fps: 30, seconds: 6, seed: 3, audio: 'silent' },
  { width: 1440, height: 1440, fps: 24, seconds: 4, seed: 4, audio: 'none' },
  { width: 1920, height: 1080, fps: 60, seconds: 4, seed: 5, audio: 'silent' },
  { width: 3840, height: 2160, fps: 24, seconds: 4, seed: 6, audio: 'silent' },
  { width: 114, height: 64, fps: 1, seconds: 4, seed: 7, audio: 'none' },
  { width: 480, height: 270, fps: 120, seconds: 15, seed: 8, audio: 'none' },
]

test.skipIf(!hasDecoder).each(films)('it reads %j and decodes every frame', async (film) => {
  const path = await filmed(film)
  const shown = 'stream=codec_name,profile,width,height,pix_fmt,r_frame_rate,duration,nb_read_frames:format=duration'
  const text = await run('ffprobe', '-count_frames', '-show_entries', shown, '-of', 'json', path)
  const { streams, format } = JSON.parse(new TextDecoder().decode(text)) as { streams: object[]; format: object }
  const duration = `${film.seconds}.000000`
  expect(format).toEqual({ duration })
  expect(streams[0]).toEqual({
    codec_name: 'h264',
    profile: 'Constrained Baseline',
    width: film.width,
    height: film.height,
    pix_fmt: 'yuv420p',
    r_frame_rate: `${film.fps}/1`,
    duration,
    nb_read_frames: String(film.seconds * film.fps),
  })
  if (film.audio === 'silent') expect(streams[1]).toMatchObject({ codec_name: 'aac', profile: 'LC', duration })
  expect(streams).toHaveLength(film.audio === 'silent' ? 2 : 1)
  await run('ffmpeg', '-xerror', '-err_detect', 'explode', '-i', path, '-f', 'null', '-')
})

test.skipIf(!hasDecoder)('every pixel of every frame is the colour that the scene has there', async () => {
  for (const seed of [1, 2, 3]) {
    const film: Film = { width: 214, height: 120, fps: 24, seconds: 4, seed, audio: 'none' }
    const path = await filmed(film)
    const raw = await run('ffmpeg', '-i', path, '-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-')
    expectScene(raw, film)
  }
})

test.skipIf(!hasDecoder)('a jump lands on the frame of that second', async () => {
  const film: Film = { width: 214, height: 120, fps: 24, seconds: 5, seed: 1, audio: 'silent' }
  const path = await filmed(film)
  const arrived = await run('ffmpeg', '-ss', '3.5', '-i', path, '-frames:v', '1', '-f', 'rawvideo', '-')
  const whole = await run('ffmpeg', '-i', path, '-f', 'rawvideo', '-')
  const frameBytes = (film.width * film.height * 3) / 2
  const at = Math.round(3.5 * film.fps) * frameBytes
  expect(Buffer.compare(arrived, whole.subarray(at, at + frameBytes))).toBe(0)
})

function expectScene(raw: Uint8Array, film: Film): void {
  const { width, height, fps, seconds } = film
  const [lumaBytes, chromaBytes] = [width * height, (width * height) / 4]
  expect(raw.length).toBe((lumaBytes + 2 * chromaBytes) * fps * seconds)
  const scene = new VideoScene(film, seconds, film.seed)
  let wrong = 0
  for (let frame = 0; frame < fps * seconds; frame++) {
    scene.moveTo(frame / fps)
    const start = frame * (lumaBytes + 2 * chromaBytes)
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const color = scene.blocks[(y >> 4) * blocksAcross(width) + (x >> 4)] ?? 0
        const half = (y >> 1) * (width / 2) + (x >> 1)
        if (raw[start + y * width + x] !== color >> 16) wrong += 1
        if (raw[start + lumaBytes + half] !== ((color >> 8) & 0xff)) wrong += 1
        if (raw[start + lumaBytes + chromaBytes + half] !== (color & 0xff)) wrong += 1
      }
    }
  }
  expect(wrong).toBe(0)
}
