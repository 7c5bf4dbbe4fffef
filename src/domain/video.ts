/** What a video model can do, as data, and what a request asks of it as far as price and pixels depend on it. */
import { GIB, HOUR_MS, MIB, MINUTE_MS } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

export const videoResolutions = ['480p', '720p', '1080p'] as const
export type VideoResolution = (typeof videoResolutions)[number]

export const videoRatios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'] as const
export type VideoRatio = (typeof videoRatios)[number]

export const upscaleResolutions = ['720p', '1080p', '2k', '4k'] as const
export type UpscaleResolution = (typeof upscaleResolutions)[number]
export const upscaleScenes = ['aigc', 'short_series', 'ugc', 'old_film'] as const
export const upscaleVersions = ['standard', 'professional'] as const

/** The shorter edge, in pixels. */
export const shorterEdge: Readonly<Record<VideoResolution | UpscaleResolution, number>> = {
  '480p': 480,
  '720p': 720,
  '1080p': 1_080,
  '2k': 1_440,
  '4k': 2_160,
}

/** `-1`: the model chooses. */
export const DURATION_AUTO = -1

export type VideoFacts = {
  readonly resolutions: readonly VideoResolution[]
  readonly resolutionDefault: VideoResolution
  readonly ratios: readonly VideoRatio[]
  /** Whole seconds it makes, rising. */
  readonly durations: readonly number[]
  readonly durationDefault: number
  /** Whether the model may be left to choose. */
  readonly choosesDuration: boolean
  /** `optional`: as asked, and `audioDefault` where nothing is said. */
  readonly audio: 'never' | 'optional' | 'always'
  readonly audioDefault: boolean
  /** Frames of the video that may be given: none, its first, or its first and its last. */
  readonly frames: 'none' | 'first' | 'first_last'
  readonly referenceImagesMax: number
  readonly referenceVideosMax: number
  readonly referenceAudiosMax: number
  /** Whether references may stand beside a first or last frame. */
  readonly mixesFramesWithReferences: boolean
  /** Whether audio may be the only reference. */
  readonly takesAudioAlone: boolean
  readonly webSearch: boolean
  readonly watermark: boolean
  readonly seed: boolean
  readonly promptCharsMax: number
  /** Frames a second, for the tokens of a video whose vendor reports none. */
  readonly fps: number
  /** Seconds that reference videos have together at most. Vendors bill them as tokens too. */
  readonly inputVideoSecondsMax: number
  /** After so long without an end a task has failed. */
  readonly deadlineMs: number
  /** The provider that upscales what this model makes; undefined: nothing does. */
  readonly upscaler: string | undefined
}

/** All that the public contract has: a vendor that is not known says itself what it cannot do. */
export const openVideoFacts: VideoFacts = {
  resolutions: videoResolutions,
  resolutionDefault: '720p',
  ratios: videoRatios,
  durations: [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  durationDefault: 5,
  choosesDuration: true,
  audio: 'optional',
  audioDefault: true,
  frames: 'first_last',
  referenceImagesMax: 9,
  referenceVideosMax: 3,
  referenceAudiosMax: 3,
  mixesFramesWithReferences: true,
  takesAudioAlone: true,
  webSearch: true,
  watermark: true,
  seed: true,
  promptCharsMax: 32_000,
  fps: 24,
  inputVideoSecondsMax: 15,
  deadlineMs: 6 * HOUR_MS,
  upscaler: undefined,
}

export type UpscaleWish = {
  readonly resolution: UpscaleResolution | undefined
  readonly limit: number | undefined
  readonly scene: (typeof upscaleScenes)[number] | undefined
  readonly version: (typeof upscaleVersions)[number]
  readonly fps: number | undefined
}

/** What a request asks for, as far as its price and its pixels depend on it. */
export type VideoOptions = {
  readonly resolution: VideoResolution
  /** Undefined: as the vendor likes. */
  readonly ratio: VideoRatio | undefined
  /** DURATION_AUTO: as the model likes. */
  readonly seconds: number
  readonly audio: boolean
  readonly withVideo: boolean
  /** The client's own or one that was drawn: by it a task can be found again at a vendor that lists them. */
  readonly seed: number
  readonly upscale: UpscaleWish | undefined
}

export const SEED_MAX = 2 ** 32 - 1

/** Of the two stages of a task: what a client, a vendor and a file may take. */
export const videoBounds = {
  bodyBytesMax: limit('videoBodyBytesMax', 64 * MIB, 'A larger request for a video is refused.'),
  /** Tasks under way, all accounts together. */
  tasksMax: limit('videoTasksMax', 10_000, 'A request for another video is refused.'),
  /** How long a client waits for a vendor to accept its task. */
  acceptanceMs: limit('videoAcceptanceMs', 20_000, 'The client gets its task before the vendor has accepted it.'),
  submitTimeoutMs: limit(
    'videoSubmitTimeoutMs',
    MINUTE_MS,
    'A longer submission is given up, and the task is looked for.',
  ),
  pollTimeoutMs: limit('videoPollTimeoutMs', 30_000, 'A longer poll is given up and repeated later.'),
  pollsMax: limit('videoPollsMax', 32, 'Further polls wait.'),
  pollBytesMax: limit('videoPollBytesMax', MIB, 'A larger answer to a poll counts as garbage of the vendor.'),
  /** Of an answer that has the video itself in it. */
  heavyPollBytesMax: limit(
    'videoHeavyPollBytesMax',
    192 * MIB,
    'A larger answer that holds the video itself counts as garbage of the vendor.',
  ),
  fileBytesMax: limit('videoFileBytesMax', 2 * GIB, 'A larger video is not downloaded, and its task fails.'),
  downloadsMax: limit('videoDownloadsMax', 4, 'Further downloads wait.'),
  downloadHopsMax: limit('videoDownloadHopsMax', 5, 'A download that is redirected more often fails.'),
  downloadHeadTimeoutMs: limit(
    'videoDownloadHeadTimeoutMs',
    MINUTE_MS,
    'A download whose head takes longer is given up and tried again.',
  ),
  downloadStallMs: limit(
    'videoDownloadStallMs',
    MINUTE_MS,
    'A download that stands still is given up and tried again.',
  ),
  /** Of a whole file: one that drips must not keep the others waiting for ever. */
  downloadTimeoutMs: limit('videoDownloadTimeoutMs', 900_000, 'A longer download is given up and tried again.'),
  /** Of a medium that the gateway fetches for a vendor that does not, and of all of a request. Vendors take less. */
  mediumBytesMax: limit('videoMediumBytesMax', 32 * MIB, 'A video with a larger picture or clip at an address fails.'),
  mediaBytesMax: limit(
    'videoMediaBytesMax',
    64 * MIB,
    'A video with more bytes of pictures and clips at addresses fails.',
  ),
  mediumTimeoutMs: limit('videoMediumTimeoutMs', 15_000, 'A picture or clip that takes longer to fetch is lost.'),
  /** Requests whose media are fetched and handed on at once, in all and of one account: so many are in memory. */
  inliningMax: limit('videoInliningMax', 8, 'Further requests whose media are fetched wait.'),
  inliningPerAccountMax: limit(
    'videoInliningPerAccountMax',
    2,
    'Further requests of the account whose media are fetched wait.',
  ),
  /** Times in a row that a vendor does not know a task, until it is gone. */
  missesMax: limit('videoMissesMax', 3, 'A task that the vendor does not know for so many looks in a row is gone.'),
  /** Of files that cannot be had or used, until the task has failed. */
  downloadTriesMax: limit('videoDownloadTriesMax', 8, 'A task whose file cannot be had so often has failed.'),
  /** Looks for a task that a vendor may have, or not. */
  looksMax: limit('videoLooksMax', 10, 'A submission of unknown result that is not found so often is an orphan.'),
}
