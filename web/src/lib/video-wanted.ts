/** The options of a video as typed. They are the state of the form, and a URL can preset them. */
import type { TaskWish } from './api-types.gen.ts'

export type VideoWanted = {
  readonly resolution?: string
  readonly ratio?: string
  readonly seconds?: string
  readonly audio?: 'on' | 'off'
  readonly seed?: string
  readonly watermark?: 'on' | 'off'
  readonly webSearch?: 'on' | 'off'
  /** A named resolution, `edge` for one in pixels, or `same` for a higher frame rate only. Absent: none. */
  readonly upscale?: string
  readonly edge?: string
  readonly scene?: string
  readonly version?: string
  readonly fps?: string
}

const names = ['resolution', 'ratio', 'seconds', 'seed', 'upscale', 'edge', 'scene', 'version', 'fps'] as const
const switches = ['audio', 'watermark', 'webSearch'] as const
const TEXT_MAX = 40

/** The options that a URL can preset. */
export function wantedIn(raw: unknown): VideoWanted | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined
  const fields = raw as Readonly<Record<string, unknown>>
  const texts = names.flatMap((name) => {
    const value = typeof fields[name] === 'number' ? String(fields[name]) : fields[name]
    return typeof value === 'string' && value !== '' ? [[name, value.slice(0, TEXT_MAX)] as const] : []
  })
  const set = switches.flatMap((name) => {
    const value = fields[name]
    return value === 'on' || value === 'off' ? [[name, value] as const] : []
  })
  const all = [...texts, ...set]
  return all.length > 0 ? Object.fromEntries(all) : undefined
}

/** The options of a task, as far as they are stored. */
export function wantedAgain({ resolution, ratio, seconds, audio, seed, upscale }: TaskWish): VideoWanted {
  return {
    resolution,
    ...(ratio === null ? {} : { ratio }),
    seconds: String(seconds),
    audio: audio ? 'on' : 'off',
    seed: String(seed),
    ...(upscale
      ? {
          upscale: upscale.resolution ?? (upscale.limit === null ? 'same' : 'edge'),
          version: upscale.version,
          ...(upscale.limit === null ? {} : { edge: String(upscale.limit) }),
          ...(upscale.scene === null ? {} : { scene: upscale.scene }),
          ...(upscale.fps === null ? {} : { fps: String(upscale.fps) }),
        }
      : {}),
  }
}
