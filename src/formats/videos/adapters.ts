import type { TaskAdapter, UpscaleOrder, VideoAdapter } from './adapter.ts'
import { ark } from './ark.ts'
import { mediakit } from './mediakit.ts'
import { veo, vertexVeo } from './veo.ts'

/** How vendors are asked for videos. */
export type VideoApi = 'ark' | 'veo' | 'vertex-veo'
/** How they are asked to upscale one. */
export type UpscaleApi = 'mediakit'

export const videoAdapters: Readonly<Record<VideoApi, VideoAdapter>> = { ark, veo, 'vertex-veo': vertexVeo }
export const upscaleAdapters: Readonly<Record<UpscaleApi, TaskAdapter<UpscaleOrder>>> = { mediakit }
