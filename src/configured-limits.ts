/** The limits that an operator can set. */
import { integer, type Environment } from './setting.ts'
import { GIB, HOUR_MS, MIB, MINUTE_MS } from './lib/primitives/units.ts'

/** Every limit that an operator can set: its variable, its default and its range. */
const limitRules = {
  connectionsMax: { name: 'TOLLGATE_CONNECTIONS_MAX', fallback: 20_000, min: 16, max: 10_000_000 },
  strangersPerAddressMax: { name: 'TOLLGATE_STRANGERS_PER_ADDRESS_MAX', fallback: 100, min: 1, max: 10_000_000 },
  bodyBytesMax: { name: 'TOLLGATE_BODY_BYTES_MAX', fallback: 32 * MIB, min: 1024, max: GIB },
  arrivingBytesMax: { name: 'TOLLGATE_ARRIVING_BYTES_MAX', fallback: 512 * MIB, min: 1024, max: 1024 * GIB },
  /** 0 means: as much as the system grants. */
  memoryBytesMax: { name: 'TOLLGATE_MEMORY_BYTES_MAX', fallback: 0, min: 0, max: 1024 ** 5 },
  requestTimeoutMs: { name: 'TOLLGATE_REQUEST_TIMEOUT_MS', fallback: HOUR_MS, min: 100, max: 24 * HOUR_MS },
  wholeReplyTimeoutMs: { name: 'TOLLGATE_WHOLE_REPLY_TIMEOUT_MS', fallback: 600_000, min: 100, max: 24 * HOUR_MS },
  eventGapTimeoutMs: { name: 'TOLLGATE_EVENT_GAP_TIMEOUT_MS', fallback: 120_000, min: 100, max: HOUR_MS },
  heartbeatMs: { name: 'TOLLGATE_HEARTBEAT_MS', fallback: 10_000, min: 100, max: HOUR_MS },
  stallTimeoutMs: { name: 'TOLLGATE_STALL_TIMEOUT_MS', fallback: MINUTE_MS, min: 100, max: HOUR_MS },
  videoPollMs: { name: 'TOLLGATE_VIDEO_POLL_MS', fallback: 2_000, min: 20, max: MINUTE_MS },
  videoKeptMs: { name: 'TOLLGATE_VIDEO_KEPT_MS', fallback: 24 * HOUR_MS, min: 100, max: 30 * 24 * HOUR_MS },
  contentPerMinute: { name: 'TOLLGATE_CONTENT_PER_MINUTE', fallback: 240, min: 1, max: 1_000_000 },
  contentConcurrent: { name: 'TOLLGATE_CONTENT_CONCURRENT', fallback: 16, min: 1, max: 10_000 },
  /** Of requests that generate, from one address. 0 means no limit. */
  addressPerMinute: { name: 'TOLLGATE_ADDRESS_PER_MINUTE', fallback: 0, min: 0, max: 1_000_000 },
  addressConcurrent: { name: 'TOLLGATE_ADDRESS_CONCURRENT', fallback: 0, min: 0, max: 1_000_000 },
  imageUrlMs: { name: 'TOLLGATE_IMAGE_URL_MS', fallback: HOUR_MS, min: 100, max: 24 * HOUR_MS },
  storedBytesMax: { name: 'TOLLGATE_STORED_BYTES_MAX', fallback: 256 * MIB, min: 0, max: 1024 * GIB },
  answerCacheBytesMax: { name: 'TOLLGATE_ANSWER_CACHE_BYTES_MAX', fallback: 256 * MIB, min: 0, max: 1024 * GIB },
  diskFloorBytes: { name: 'TOLLGATE_DISK_FLOOR_BYTES', fallback: 256 * MIB, min: 0, max: 1024 * GIB },
  attemptsMax: { name: 'TOLLGATE_ATTEMPTS_MAX', fallback: 3, min: 1, max: 10 },
  /** In a cluster the default is `CLUSTER_LAME_DUCK_MS`. */
  lameDuckMs: { name: 'TOLLGATE_LAME_DUCK_MS', fallback: 0, min: 0, max: 900_000 },
  drainMs: { name: 'TOLLGATE_DRAIN_MS', fallback: 30_000, min: 0, max: 900_000 },
} as const

/** Balancers ask every few seconds whether a process is ready, and need two or three bad answers. */
const CLUSTER_LAME_DUCK_MS = 10_000

export type ConfiguredLimits = { readonly [Name in keyof typeof limitRules]: number }

export function configuredLimits(env: Environment): ConfiguredLimits {
  // Several processes may share a database. Without one, no other process can take over.
  const lameDuckMs = { ...limitRules.lameDuckMs, fallback: env['TOLLGATE_DATABASE_URL'] ? CLUSTER_LAME_DUCK_MS : 0 }
  const rules = { ...limitRules, lameDuckMs }
  const entries = Object.entries(rules).map(([key, { name, ...rule }]) => [key, integer(env, name, rule)] as const)
  return Object.fromEntries(entries) as ConfiguredLimits
}
