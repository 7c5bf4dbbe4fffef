/** How an operator says what a video model can do. */
import { z } from 'zod'
import { videoRatios, videoResolutions, type VideoFacts } from '../domain/video.ts'
import { videoFamilies, videoFamilyNames } from './video-families.ts'

const count = z.int().min(0)

export const videoDeclaration = z.strictObject({
  family: z.enum(videoFamilyNames as [string, ...string[]]).default('open'),
  resolutions: z.array(z.enum(videoResolutions)).min(1).optional(),
  ratios: z.array(z.enum(videoRatios)).min(1).optional(),
  durations: z.array(z.int().min(1).max(60)).min(1).optional(),
  chooses_duration: z.boolean().optional(),
  audio: z.enum(['never', 'optional', 'always']).optional(),
  frames: z.enum(['none', 'first', 'first_last']).optional(),
  reference_images_max: count.max(9).optional(),
  reference_videos_max: count.max(3).optional(),
  reference_audios_max: count.max(3).optional(),
  mixes_frames_with_references: z.boolean().optional(),
  web_search: z.boolean().optional(),
  deadline_s: z
    .int()
    .min(1)
    .max(7 * 86_400)
    .optional(),
  /** The provider that upscales the videos of this model. */
  upscaler: z.string().min(1).optional(),
})

/** The facts of the family, with the declared ones in their place. The first value of a list is the default. */
export function videoFactsOf(declared: z.infer<typeof videoDeclaration>): VideoFacts {
  const family: VideoFacts = videoFamilies[declared.family as keyof typeof videoFamilies]
  const { resolutions, durations, deadline_s: deadlineS } = declared
  const stated = {
    resolutions,
    resolutionDefault: resolutions?.[0],
    ratios: declared.ratios,
    durations: durations?.toSorted((a, b) => a - b),
    durationDefault: durations?.[0],
    choosesDuration: declared.chooses_duration,
    audio: declared.audio,
    frames: declared.frames,
    referenceImagesMax: declared.reference_images_max,
    referenceVideosMax: declared.reference_videos_max,
    referenceAudiosMax: declared.reference_audios_max,
    mixesFramesWithReferences: declared.mixes_frames_with_references,
    webSearch: declared.web_search,
    deadlineMs: deadlineS && deadlineS * 1000,
    upscaler: declared.upscaler,
  }
  return { ...family, ...Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined)) }
}
