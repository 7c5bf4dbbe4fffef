/** What families of video models can do, as data. An operator names the family of a model. */
import { openVideoFacts, type VideoFacts } from '../domain/video.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i)

// Seedance 2.0 makes a video from frames or from references, never from both. Audio cannot be its only reference
// (Volcengine, 2026-08).
const seedance2: VideoFacts = { ...openVideoFacts, mixesFramesWithReferences: false, takesAudioAlone: false }

/** Facts by family, from the vendors' documentation (August to November 2026). */
export const videoFamilies = {
  open: openVideoFacts,
  'seedance-2': seedance2,
  'seedance-2-fast': { ...seedance2, resolutions: ['480p', '720p'] },
  'seedance-1-5': {
    ...seedance2,
    resolutions: ['480p', '720p'],
    durations: range(4, 12),
    choosesDuration: false,
    referenceImagesMax: 0,
    referenceVideosMax: 0,
    referenceAudiosMax: 0,
    webSearch: false,
    inputVideoSecondsMax: 0,
  },
  'veo-3': {
    ...openVideoFacts,
    resolutions: ['720p', '1080p'],
    ratios: ['16:9', '9:16'],
    durations: [4, 6, 8],
    durationDefault: 8,
    choosesDuration: false,
    audio: 'always',
    referenceImagesMax: 3,
    referenceVideosMax: 0,
    referenceAudiosMax: 0,
    mixesFramesWithReferences: false,
    webSearch: false,
    watermark: false,
    promptCharsMax: 4_000,
    inputVideoSecondsMax: 0,
    deadlineMs: HOUR_MS,
  },
} as const satisfies Readonly<Record<string, VideoFacts>>

export const videoFamilyNames = Object.keys(videoFamilies) as (keyof typeof videoFamilies)[]
