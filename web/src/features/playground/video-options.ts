/** The chosen options of a video, the part that the model supports, and the request. */
import type { VideoFacts } from '../../lib/api-types.gen.ts'
import { dataUrlOf } from '../../lib/data-url.ts'
import type { VideoWanted } from '../../lib/video-wanted.ts'
import type { Problem } from './settings.ts'
import { MIB } from '../../lib/units.ts'

export const upscaleResolutions = ['720p', '1080p', '2k', '4k'] as const
export const scenes = ['aigc', 'short_series', 'ugc', 'old_film'] as const
export const versions = ['standard', 'professional'] as const

/** The shorter edge in pixels. */
export const shorterEdge: Readonly<Record<string, number>> = {
  '480p': 480,
  '720p': 720,
  '1080p': 1_080,
  '2k': 1_440,
  '4k': 2_160,
}

export type Upscale = {
  readonly resolution?: string
  readonly limit?: number
  readonly scene?: string
  readonly version: string
  readonly fps?: number
}
export type VideoOptions = {
  readonly resolution: string
  readonly ratio: string
  /** -1: the model chooses. */
  readonly seconds: number
  readonly audio: boolean
  readonly seed: number | undefined
  readonly watermark: boolean
  readonly webSearch: boolean
  readonly upscale: Upscale | undefined
}

const among = (list: readonly string[], value: string | undefined, otherwise: string): string =>
  value !== undefined && list.includes(value) ? value : otherwise

export const secondsOf = ({ durations, choosesDuration }: VideoFacts): readonly string[] => [
  ...durations.map(String),
  ...(choosesDuration ? ['-1'] : []),
]

/** Only sizes larger than the video itself. */
export const largerThan = (resolution: string): readonly string[] =>
  upscaleResolutions.filter((one) => (shorterEdge[one] ?? 0) > (shorterEdge[resolution] ?? 0))

/** Options that the model supports. For the others its default applies. */
export function wishOf(facts: VideoFacts, wanted: VideoWanted): VideoOptions {
  const resolution = among(facts.resolutions, wanted.resolution, facts.resolutionDefault)
  const seed = (wanted.seed ?? '').trim()
  return {
    resolution,
    ratio: among(facts.ratios, wanted.ratio, facts.ratios[0] ?? '16:9'),
    seconds: Number(among(secondsOf(facts), wanted.seconds, String(facts.durationDefault))),
    audio: facts.audio === 'always' || (facts.audio === 'optional' && isOn(wanted.audio, facts.audioDefault)),
    seed: facts.seed && seed !== '' ? Number(seed) : undefined,
    watermark: facts.watermark && isOn(wanted.watermark, false),
    webSearch: facts.webSearch && isOn(wanted.webSearch, false),
    upscale: facts.upscales && wanted.upscale ? upscaleOf(wanted, resolution) : undefined,
  }
}

const isOn = (value: 'on' | 'off' | undefined, otherwise: boolean): boolean =>
  value === undefined ? otherwise : value === 'on'

/** Either a named resolution or an edge in pixels, never both. */
function upscaleOf({ upscale, edge, scene, version, fps }: VideoWanted, original: string): Upscale {
  const larger = largerThan(original)
  const size =
    upscale === 'edge'
      ? { limit: Number(edge ?? '') }
      : upscale === 'same'
        ? {}
        : { resolution: among(larger, upscale, larger[0] ?? '4k') }
  return {
    ...size,
    ...(scene ? { scene } : {}),
    version: among(versions, version, 'standard'),
    ...(fps?.trim() ? { fps: Number(fps) } : {}),
  }
}

export type Media = {
  readonly first: readonly File[]
  readonly last: readonly File[]
  readonly images: readonly File[]
  readonly videos: readonly File[]
  readonly audios: readonly File[]
  /** URLs, one per line. */
  readonly videoUrls: string
  readonly audioUrls: string
}
export const noMedia: Media = { first: [], last: [], images: [], videos: [], audios: [], videoUrls: '', audioUrls: '' }

export const addressesIn = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '')
export const videosOf = ({ videos, videoUrls }: Media): number => videos.length + addressesIn(videoUrls).length
const audiosOf = ({ audios, audioUrls }: Media): number => audios.length + addressesIn(audioUrls).length
export const hasFrames = ({ first, last }: Media): boolean => first.length + last.length > 0
export const hasReferences = (media: Media): boolean => media.images.length + videosOf(media) + audiosOf(media) > 0

/** A request has at most 64 MiB, and files grow by a third in base64. */
export const FILES_MIB_MAX = 45
const SEED_MAX = 2 ** 32 - 1

const isWhole = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most

/** The reason why the gateway would refuse the request. Undefined: none. The prompt is checked when it is sent. */
export function problemOf(facts: VideoFacts, wish: VideoOptions, media: Media): Problem | undefined {
  return problemOfMedia(facts, media) ?? problemOfFields(wish)
}

function problemOfMedia(facts: VideoFacts, media: Media): Problem | undefined {
  const bounds = [
    ['play.first', media.first.length, facts.frames === 'none' ? 0 : 1],
    ['play.last', media.last.length, facts.frames === 'first_last' ? 1 : 0],
    ['play.images', media.images.length, facts.referenceImagesMax],
    ['play.videos', videosOf(media), facts.referenceVideosMax],
    ['play.audios', audiosOf(media), facts.referenceAudiosMax],
  ] as const
  for (const [what, count, max] of bounds) {
    if (count > max) return { key: max === 0 ? 'play.video.none' : 'play.video.tooMany', values: { what, max } }
  }
  if (media.last.length > 0 && media.first.length === 0) return { key: 'play.video.lastNeedsFirst' }
  if (hasFrames(media) && hasReferences(media) && !facts.mixesFramesWithReferences) return { key: 'play.video.either' }
  const isHeardOnly = audiosOf(media) > 0 && !hasFrames(media) && media.images.length + videosOf(media) === 0
  if (isHeardOnly && !facts.takesAudioAlone) return { key: 'play.video.audioAlone' }
  const wrong = addressesIn(`${media.videoUrls} ${media.audioUrls}`).find((one) => !/^https?:\/\/[^/]/i.test(one))
  if (wrong !== undefined) return { key: 'play.video.address', values: { address: wrong.slice(0, 60) } }
  const { first, last, images, videos, audios } = media
  const bytes = [first, last, images, videos, audios].flat().reduce((sum, { size }) => sum + size, 0)
  return bytes > FILES_MIB_MAX * MIB ? { key: 'play.video.tooLarge', values: { max: FILES_MIB_MAX } } : undefined
}

function problemOfFields({ seed, upscale }: VideoOptions): Problem | undefined {
  if (seed !== undefined && !isWhole(seed, 0, SEED_MAX)) return { key: 'play.video.seed', values: { max: SEED_MAX } }
  if (upscale?.limit !== undefined && !isWhole(upscale.limit, 64, 2_160)) return { key: 'play.video.edge' }
  if (upscale?.fps !== undefined && !isWhole(upscale.fps, 1, 120)) return { key: 'play.video.fps' }
  return undefined
}

type Item = readonly [kind: 'image' | 'video' | 'audio', role: string, source: File | string]

export function bodyOf(model: string, wish: VideoOptions, content: readonly object[]): object {
  const { upscale } = wish
  return {
    model,
    content,
    resolution: wish.resolution,
    ratio: wish.ratio,
    duration: wish.seconds,
    generate_audio: wish.audio,
    ...(wish.seed === undefined ? {} : { seed: wish.seed }),
    ...(wish.watermark ? { watermark: true } : {}),
    ...(wish.webSearch ? { web_search: true } : {}),
    ...(upscale
      ? {
          super_resolution_config: {
            ...(upscale.resolution === undefined ? {} : { resolution: upscale.resolution }),
            ...(upscale.limit === undefined ? {} : { resolution_limit: upscale.limit }),
            ...(upscale.scene === undefined ? {} : { scene: upscale.scene }),
            tool_version: upscale.version,
            ...(upscale.fps === undefined ? {} : { fps: upscale.fps }),
          },
        }
      : {}),
  }
}

export async function contentOf(prompt: string, media: Media): Promise<readonly object[]> {
  const items: readonly Item[] = [
    ...media.first.map((file): Item => ['image', 'first_frame', file]),
    ...media.last.map((file): Item => ['image', 'last_frame', file]),
    ...media.images.map((file): Item => ['image', 'reference_image', file]),
    ...[...media.videos, ...addressesIn(media.videoUrls)].map((one): Item => ['video', 'reference_video', one]),
    ...[...media.audios, ...addressesIn(media.audioUrls)].map((one): Item => ['audio', 'reference_audio', one]),
  ]
  const sent = await Promise.all(
    items.map(async ([kind, role, source]) => ({
      type: `${kind}_url`,
      [`${kind}_url`]: { url: typeof source === 'string' ? source : await dataUrlOf(source) },
      role,
    })),
  )
  return [...(prompt.trim() === '' ? [] : [{ type: 'text', text: prompt }]), ...sent]
}
