/** The items of a request: their kinds and their roles in the video. */
import { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'
import { isTypeOf, type VideoMedium, type VideoRole } from '../core/video-body.ts'

const address = z.looseObject({ url: z.string().min(1) }).nullish()

export const contentItem = z.looseObject({
  type: z.enum(['text', 'image_url', 'video_url', 'audio_url']),
  text: z.string().nullish(),
  image_url: address,
  video_url: address,
  audio_url: address,
  role: z.string().nullish(),
})
type ContentItem = z.infer<typeof contentItem>

type InputType = 'reference' | 'first_last_frame'
type Content =
  | { readonly kind: 'content'; readonly prompt: string; readonly media: readonly VideoMedium[] }
  | { readonly kind: 'rejected'; readonly failure: Failure }
type RejectedContent = Extract<Content, { kind: 'rejected' }>

/** The most items of a kind for any model, and the roles that they may have. */
const kinds = {
  image_url: { kind: 'image', max: 9, roles: ['first_frame', 'last_frame', 'reference_image'] },
  video_url: { kind: 'video', max: 3, roles: ['reference_video'] },
  audio_url: { kind: 'audio', max: 3, roles: ['reference_audio'] },
} as const satisfies Record<string, { kind: VideoMedium['kind']; max: number; roles: readonly VideoRole[] }>

/** An item whose role may still be undecided. */
type Loose = Omit<VideoMedium, 'role'> & { role: VideoRole | undefined; readonly roleParam: string }

const reject = (param: string, message: string): RejectedContent => ({
  kind: 'rejected',
  failure: { kind: 'invalid_value', message, param },
})
const missing = (param: string): RejectedContent => ({
  kind: 'rejected',
  failure: { kind: 'missing_parameter', message: `Missing required parameter: '${param}'.`, param },
})

export function readContent(items: readonly ContentItem[], inputType: InputType | undefined): Content {
  const texts: string[] = []
  const media: Loose[] = []
  for (const [i, item] of items.entries()) {
    const read = readItem(item, i)
    if ('failure' in read) return read
    if ('text' in read) texts.push(read.text)
    else media.push(read)
  }
  for (const [type, { kind, max }] of Object.entries(kinds)) {
    if (media.filter((one) => one.kind === kind).length <= max) continue
    return reject('content', `Invalid 'content': at most ${max} items of type '${type}' are allowed.`)
  }
  const prompt = texts.filter((text) => text.trim() !== '').join('\n')
  if (prompt === '' && !media.some(({ kind }) => kind !== 'audio')) {
    return reject('content', "Invalid 'content': needs at least one non-empty text, image or video.")
  }
  return settleRoles(media, inputType) ?? { kind: 'content', prompt, media: media.map(settled) }
}

function readItem(item: ContentItem, i: number): Loose | { readonly text: string } | RejectedContent {
  const { type, role } = item
  const roleParam = `content[${i}].role`
  if (type === 'text') {
    if (typeof role === 'string') return reject(roleParam, `Invalid '${roleParam}': a text has no role.`)
    return typeof item.text === 'string' ? { text: item.text } : missing(`content[${i}].text`)
  }
  const param = `content[${i}].${type}.url`
  const url = item[type]?.url
  if (url === undefined) return missing(param)
  const { kind, roles } = kinds[type]
  const known = (roles as readonly VideoRole[]).find((one) => one === role)
  if (typeof role === 'string' && !known) {
    const allowed = roles.map((one) => `'${one}'`).join(', ')
    return reject(roleParam, `Invalid '${roleParam}': must be one of ${allowed}.`)
  }
  if (!isAddress(url, kind)) {
    const types = kind === 'image' ? ' of a PNG, JPEG, WebP, GIF, BMP, TIFF, HEIC, HEIF or AVIF' : ''
    const allowed = `an http or https URL, or a 'data:${kind}/…;base64,' URL${types}`
    return reject(param, `Invalid '${param}': must be ${allowed}.`)
  }
  return { kind, url, param, role: known, roleParam }
}

/** Only the beginning is checked, because a medium can be as large as a request. */
function isAddress(url: string, kind: VideoMedium['kind']): boolean {
  const [, type] = /^data:([a-z]+\/[\w.+-]{1,64});base64,[\w+/]/i.exec(url.slice(0, 128)) ?? []
  return type === undefined ? /^https?:\/\//i.test(url.slice(0, 8)) : isTypeOf(kind, type)
}

/**
 * Gives every image its role. If frames are named, or if the type is `first_last_frame`, images without a role are
 * references. If none is named, the first two are the frames.
 */
function settleRoles(media: readonly Loose[], inputType: InputType | undefined): RejectedContent | undefined {
  const images = media.filter(({ kind }) => kind === 'image')
  const named = (role: VideoRole): Loose[] => images.filter((one) => one.role === role)
  const [first, last] = [named('first_frame'), named('last_frame')]
  for (const [, second] of [first, last]) {
    if (second) return reject(second.roleParam, `Invalid '${second.roleParam}': a video has one such frame.`)
  }
  if (inputType === 'reference' && first.length + last.length > 0) {
    return reject('input_type', "Invalid 'input_type': 'reference' contradicts the role of a frame.")
  }
  if (inputType === 'first_last_frame' && first.length + last.length === 0) {
    const open = images.filter(({ role }) => role === undefined)
    if (!open[0]) return reject('input_type', "Invalid 'input_type': 'first_last_frame' needs an image for a frame.")
    open[0].role = 'first_frame'
    if (open[1]) open[1].role = 'last_frame'
    return undefined
  }
  const [end] = last
  if (!end || first.length > 0) return undefined
  return reject(end.roleParam, `Invalid '${end.roleParam}': a last frame needs a first one.`)
}

const REFERENCES = { image: 'reference_image', video: 'reference_video', audio: 'reference_audio' } as const

const settled = ({ kind, url, role, param }: Loose): VideoMedium => ({
  kind,
  url,
  param,
  role: role ?? REFERENCES[kind],
})
