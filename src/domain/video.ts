/** What a video model can do, as data, and the options of a request that affect its price and its pixels. */
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
  /** Whole seconds that the model can make, in rising order. */
  readonly durations: readonly number[]
  readonly durationDefault: number
  /** Whether the model can choose the duration. */
  readonly choosesDuration: boolean
  /** `optional`: as requested, or `audioDefault` if the request says nothing. */
  readonly audio: 'never' | 'optional' | 'always'
  readonly audioDefault: boolean
  /** The frames that a request may give: none, the first, or the first and the last. */
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
  /** Frames per second, for the tokens of a video whose vendor reports none. */
  readonly fps: number
  /** The most seconds of all reference videos together. Vendors bill them as tokens too. */
  readonly inputVideoSecondsMax: number
  /** A task that has not ended by then has failed. */
  readonly deadlineMs: number
  /** The provider that upscales this model's videos. Undefined: none does. */
  readonly upscaler: string | undefined
}

/** Everything that the public specification has. An unknown vendor refuses what it cannot do. */
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

/** The options of a request, as far as its price and its pixels depend on them. */
export type VideoOptions = {
  readonly resolution: VideoResolution
  /** Undefined: the vendor chooses. */
  readonly ratio: VideoRatio | undefined
  /** DURATION_AUTO: the model chooses. */
  readonly seconds: number
  readonly audio: boolean
  readonly withVideo: boolean
  /** The client's own seed, or one that was drawn. A vendor that lists its tasks can find the task by it. */
  readonly seed: number
  readonly upscale: UpscaleWish | undefined
}

export const SEED_MAX = 2 ** 32 - 1

/** Bounds of both stages of a task: what a client, a vendor and a file may take. */
export const videoBounds = {
  bodyBytesMax: limit('videoBodyBytesMax', 64 * MIB, 'A larger request for a video is refused.'),
  /** Tasks in progress, of all accounts together. */
  tasksMax: limit('videoTasksMax', 10_000, 'With this many tasks under way, a further video request is refused.'),
  /** How long a client waits for a vendor to accept its task. */
  acceptanceMs: limit(
    'videoAcceptanceMs',
    20_000,
    'After this time, the client gets its task even if the vendor has not accepted it yet.',
  ),
  submitTimeoutMs: limit(
    'videoSubmitTimeoutMs',
    MINUTE_MS,
    'A longer submission is given up, and the task is searched for at the vendor.',
  ),
  pollTimeoutMs: limit('videoPollTimeoutMs', 30_000, 'A longer poll is given up and repeated later.'),
  pollsMax: limit('videoPollsMax', 32, 'Further polls wait.'),
  pollBytesMax: limit('videoPollBytesMax', MIB, 'A larger answer to a poll is treated as invalid.'),
  /** For an answer that contains the video itself. */
  heavyPollBytesMax: limit(
    'videoHeavyPollBytesMax',
    192 * MIB,
    'A larger answer that contains the video itself is treated as invalid.',
  ),
  fileBytesMax: limit('videoFileBytesMax', 2 * GIB, 'A larger video is not downloaded, and its task fails.'),
  downloadsMax: limit('videoDownloadsMax', 4, 'Further downloads wait.'),
  downloadHopsMax: limit('videoDownloadHopsMax', 5, 'A download with more redirects fails.'),
  downloadHeadTimeoutMs: limit(
    'videoDownloadHeadTimeoutMs',
    MINUTE_MS,
    'A download whose response head takes longer is given up and tried again.',
  ),
  downloadStallMs: limit(
    'videoDownloadStallMs',
    MINUTE_MS,
    'A download that receives nothing for this time is given up and tried again.',
  ),
  /** For a whole file. A slow download must not keep the others waiting for ever. */
  downloadTimeoutMs: limit('videoDownloadTimeoutMs', 900_000, 'A longer download is given up and tried again.'),
  /**
   * For one medium that the gateway fetches for a vendor that does not, and for all media of a request. Vendors take
   * less.
   */
  mediumBytesMax: limit(
    'videoMediumBytesMax',
    32 * MIB,
    'A video request that links to a larger picture or clip fails.',
  ),
  mediaBytesMax: limit(
    'videoMediaBytesMax',
    64 * MIB,
    'A video request that links to pictures and clips of more bytes in total fails.',
  ),
  mediumTimeoutMs: limit('videoMediumTimeoutMs', 15_000, 'A picture or clip that takes longer to fetch is lost.'),
  /** Requests whose media are fetched and sent at once, in total and for one account. That many are in memory. */
  inliningMax: limit('videoInliningMax', 8, 'Further requests with linked media wait.'),
  inliningPerAccountMax: limit(
    'videoInliningPerAccountMax',
    2,
    'Further requests of the account with linked media wait.',
  ),
  /** How many times in a row the vendor does not know a task before it counts as lost. */
  missesMax: limit(
    'videoMissesMax',
    3,
    'A task is lost after this many polls in a row in which the vendor does not know it.',
  ),
  /** How often a download fails before the task does. */
  downloadTriesMax: limit('videoDownloadTriesMax', 8, 'A task fails after this many failed downloads of its file.'),
  /** How long the storage of a finished file is tried. */
  storeMs: limit('videoStoreMs', 6 * HOUR_MS, 'A task whose finished file cannot be stored for this time fails.'),
  /** How often a vendor is searched for a task that it may have. */
  looksMax: limit(
    'videoLooksMax',
    10,
    'A submission with an unknown result becomes an orphan after this many searches without a match.',
  ),
}
