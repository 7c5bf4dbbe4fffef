import type { UpscaleApi, VideoApi } from '../../vendors/preset.ts'
import type { TaskAdapter, UpscaleOrder, VideoAdapter } from './adapter.ts'
import { ark } from './ark.ts'
import { mediakit } from './mediakit.ts'
import { veo, vertexVeo } from './veo.ts'

export const videoAdapters: Readonly<Record<VideoApi, VideoAdapter>> = { ark, veo, 'vertex-veo': vertexVeo }
export const upscaleAdapters: Readonly<Record<UpscaleApi, TaskAdapter<UpscaleOrder>>> = { mediakit }
