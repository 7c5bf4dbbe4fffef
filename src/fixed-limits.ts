/**
 * The limits that nobody sets. Those of the whole gateway stand here; those of a part stand in it, and are gathered so
 * that `tollgate doctor` can show every one.
 */
import { imageFetchBounds, imageFormBounds } from './domain/image.ts'
import { ANSWER_CALLS_MAX, FUTILE_PER_MINUTE } from './domain/limits.ts'
import { videoBounds } from './domain/video.ts'
import { AHEAD_BYTES_MAX, connectionLimits } from './inbound/connection-limits.ts'
import { answerLimits, largeAnswerLimits, requestScanLimits } from './lib/json/json-scan.ts'
import { PIXELS_MAX } from './lib/runtime/picture.ts'
import { decoderBounds } from './lib/runtime/picture-decoders.ts'
import { CONNECT_TIMEOUT_MS } from './outbound/send.ts'
import { watchBounds } from './records/feed.ts'
import { retryBounds } from './relay/retry-budget.ts'
import { seatBounds } from './relay/provider-concurrency.ts'
import { streamBounds } from './modalities/stream-max.ts'
import { QUEUED_BYTES_MAX } from './upstream/event-reader.ts'
import { GIB, KIB, MIB } from './lib/primitives/units.ts'

/** Of an upstream's answer, whole or as one event of a stream: what may have to be in memory at once. */
export const answerBounds = {
  replyBytesMax: 64 * MIB,
  textReplyBytesMax: 32 * MIB,
  eventCharsMax: 8 * MIB,
}
/** Of a request's body on its way in. */
export const bodyPace = { graceMs: 10_000, bytesPerSecondMin: 8 * KIB }
/** Of files on the disk, for as long as the requests that brought them: in all, and of one account. */
export const uploadBounds = { max: 8 * GIB, shareMax: GIB }
/** Of upstream streams that are read on after their client left. */
export const drainBounds = { streamsMax: 64, timeoutMs: 120_000 }

/** Of calls with an idempotency key, or of a vendor that bills to the end, whose client has left. */
export const detachedBounds = { callsMax: 256, callsPerAccountMax: 64 }

/** Of responses that are made in the background, in all and of one account. */
export const backgroundBounds = { runsMax: 256, runsPerAccountMax: 32 }

/**
 * Of what costs nothing, for one account. Whoever asks after five hundred videos twice a second is let be. Reading and
 * counting a megabyte takes 20 to 40 ms of two threads: an account may keep them busy for a second or two of a minute.
 */
export const freeBounds = {
  statePerMinute: 60_000,
  stateConcurrent: 64,
  countPerMinute: 1_200,
  countConcurrent: 8,
  countBytesPerMinute: 48 * MIB,
  countBytesPerMinuteUnfunded: 4 * MIB,
  unreadBytesMax: 64 * MIB,
}

/** By name, in the unit that the name ends in. */
export const fixedLimits = {
  headBytesMax: connectionLimits.headBytesMax,
  headTimeoutMs: connectionLimits.headTimeoutMs,
  idleTimeoutMs: connectionLimits.idleTimeoutMs,
  lingerTimeoutMs: connectionLimits.lingerTimeoutMs,
  aheadBytesMax: AHEAD_BYTES_MAX,
  bodyGraceMs: bodyPace.graceMs,
  bodyBytesPerSecondMin: bodyPace.bytesPerSecondMin,
  jsonDepthMax: requestScanLimits.depthMax,
  jsonNodesMax: requestScanLimits.nodesMax,
  jsonCommasMax: requestScanLimits.commasMax,
  formBytesMax: imageFormBounds.bytesMax,
  formPartsMax: imageFormBounds.partsMax,
  formFilesMax: imageFormBounds.filesMax,
  formFieldBytesMax: imageFormBounds.fieldBytesMax,
  formImageBytesMax: imageFormBounds.imageBytesMax,
  formMaskBytesMax: imageFormBounds.maskBytesMax,
  formPixelsMax: imageFormBounds.pixelsMax,
  formDecodingTimeoutMs: imageFormBounds.decodingTimeoutMs,
  uploadBytesMax: uploadBounds.max,
  uploadBytesPerAccountMax: uploadBounds.shareMax,
  imagePixelsMax: PIXELS_MAX,
  imageDecodingTimeoutMs: decoderBounds.timeoutMs,
  imageDecodersMax: decoderBounds.processesMax,
  imageDecoderBytesMax: decoderBounds.bytesMax,
  imageDecoderIdleMs: decoderBounds.idleMs,
  imageFetchTimeoutMs: imageFetchBounds.fetchTimeoutMs,
  imageFetchedBytesMax: imageFetchBounds.fetchedBytesMax,
  videoBodyBytesMax: videoBounds.bodyBytesMax,
  videoFileBytesMax: videoBounds.fileBytesMax,
  videoTasksMax: videoBounds.tasksMax,
  videoAcceptanceMs: videoBounds.acceptanceMs,
  videoSubmitTimeoutMs: videoBounds.submitTimeoutMs,
  videoPollTimeoutMs: videoBounds.pollTimeoutMs,
  videoPollsMax: videoBounds.pollsMax,
  videoDownloadsMax: videoBounds.downloadsMax,
  videoDownloadStallMs: videoBounds.downloadStallMs,
  videoDownloadTimeoutMs: videoBounds.downloadTimeoutMs,
  videoMediumBytesMax: videoBounds.mediumBytesMax,
  videoMediaBytesMax: videoBounds.mediaBytesMax,
  videoMediumTimeoutMs: videoBounds.mediumTimeoutMs,
  videoInliningMax: videoBounds.inliningMax,
  videoInliningPerAccountMax: videoBounds.inliningPerAccountMax,
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  providerRequestsMax: seatBounds.requestsMax,
  providerWaitMs: seatBounds.waitMs,
  retriesPercentMax: retryBounds.percentMax,
  retriesFreePerSecond: retryBounds.freePerSecond,
  streamQueuedBytesMax: QUEUED_BYTES_MAX,
  eventCharsMax: answerBounds.eventCharsMax,
  streamSpareEvents: streamBounds.events,
  streamEventsPerToken: streamBounds.eventsPerToken,
  streamSpareBytes: streamBounds.bytes,
  streamBytesPerToken: streamBounds.bytesPerToken,
  streamImageBytesPerToken: streamBounds.imageBytesPerToken,
  answerCallsMax: ANSWER_CALLS_MAX,
  replyBytesMax: answerBounds.replyBytesMax,
  textReplyBytesMax: answerBounds.textReplyBytesMax,
  answerValuesMax: answerLimits.nodesMax,
  answerMembersMax: answerLimits.membersMax,
  largeAnswerValuesMax: largeAnswerLimits.nodesMax,
  drainStreamsMax: drainBounds.streamsMax,
  drainTimeoutMs: drainBounds.timeoutMs,
  detachedCallsMax: detachedBounds.callsMax,
  detachedCallsPerAccountMax: detachedBounds.callsPerAccountMax,
  backgroundRunsMax: backgroundBounds.runsMax,
  backgroundRunsPerAccountMax: backgroundBounds.runsPerAccountMax,
  freeStateRequestsPerMinute: freeBounds.statePerMinute,
  freeStateRequestsConcurrent: freeBounds.stateConcurrent,
  freeCountRequestsPerMinute: freeBounds.countPerMinute,
  freeCountRequestsConcurrent: freeBounds.countConcurrent,
  freeCountBytesPerMinute: freeBounds.countBytesPerMinute,
  freeCountBytesPerMinuteUnfunded: freeBounds.countBytesPerMinuteUnfunded,
  futileRequestsPerMinute: FUTILE_PER_MINUTE,
  freeUnreadBytesMax: freeBounds.unreadBytesMax,
  watchersMax: watchBounds.watchersMax,
  watchersPerAccountMax: watchBounds.watchersPerAccountMax,
  watchersPerUserMax: watchBounds.watchersPerUserMax,
  watchedRowsPerPushMax: watchBounds.rowsPerPushMax,
  watchPushMs: watchBounds.pushMs,
} as const
