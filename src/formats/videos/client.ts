/** A client that requests a video. */
import type { Model } from '../../domain/catalog.ts'
import type { Failure } from '../../domain/failure.ts'
import { writeFailure } from '../core/openai-failure.ts'
import type { ClientRequest, Adapter } from '../core/contract.ts'
import { isInline, type RemoteMedium } from '../core/remote-media.ts'
import { afterScan } from '../core/request-json.ts'
import type { VideoBody } from '../core/video-body.ts'
import { checkVideo } from './check.ts'
import { readVideo, type ReadVideo } from './request.ts'

export type ReadVideoClient =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

/** Reads `POST /v1/videos`. */
export const readVideoClient = (text: string, bytes: number): ReadVideoClient | Promise<ReadVideoClient> =>
  afterScan(text, bytes, (scan) => clientOf(readVideo(scan)))

const clientOf = (read: ReadVideo): ReadVideoClient =>
  read.kind === 'rejected' ? read : { kind: 'read', request: new VideoClient(read.body) }

class VideoClient implements ClientRequest {
  readonly kind = 'video'
  readonly endpoint = 'videos'
  readonly failures = { write: writeFailure }
  readonly stream = false
  readonly choices = 1
  readonly outputTokensMax = undefined
  readonly imageParts = 0
  readonly mediaBytes = 0
  readonly messages = 0
  readonly model: string
  readonly textBytes: number
  readonly remoteMedia: readonly RemoteMedium[]
  readonly video: VideoBody

  constructor(video: VideoBody) {
    this.video = video
    this.model = video.model
    this.remoteMedia = video.media.filter(({ url }) => !isInline(url))
    this.textBytes = Buffer.byteLength(video.prompt)
  }

  check(model: Model): Failure | undefined {
    return checkVideo(this.video, model)
  }

  promptText(): string {
    return this.video.prompt
  }

  failStream(): string {
    throw new Error('a video is not streamed')
  }

  adapter(): Adapter {
    throw new Error('a video is made by a task')
  }
}
