/** SQLite's write-ahead log as bytes: the ends of its frames, and ways to damage the rest. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { AcknowledgedWrite } from './acknowledged.ts'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/** From the header of the file: page size at byte 8, salts at 16. */
function readHeader(log: Buffer): { readonly frameBytes: number; readonly salt: string } {
  return { frameBytes: log.readUInt32BE(8) + FRAME_HEADER_BYTES, salt: log.subarray(16, 24).toString('hex') }
}

/** What the index in shared memory says at the time of the kill: the file outlives the process. */
export type LogIndex = { readonly salt: string; readonly checkpointed: number }

/** From SQLite's wal-index: the salt at byte 32, nBackfillAttempted at byte 128. */
export const readIndex = (index: Buffer): LogIndex => ({
  salt: index.subarray(32, 40).toString('hex'),
  checkpointed: index.readUInt32LE(128),
})

/**
 * The first byte of the log that a crash of the machine may have lost: nothing that was acknowledged rests on it, and
 * no checkpoint has begun to copy it, before which the log is synced. An acknowledgement of another filling of the log
 * rests on nothing in it: a log is begun anew only when all of it is in the database.
 */
export function unsyncedFrom(log: Buffer, index: LogIndex, acknowledged: readonly AcknowledgedWrite[]): number {
  if (log.length < HEADER_BYTES) return log.length
  const { frameBytes, salt } = readHeader(log)
  // It is about to be begun anew: all of it was synced, copied, and synced there.
  if (index.salt !== salt) return log.length
  const frames = acknowledged.filter((one) => one.salt === salt).map(({ frame }) => frame)
  return Math.min(log.length, HEADER_BYTES + Math.max(index.checkpointed, ...frames) * frameBytes)
}

export type Damage =
  | 'none'
  | 'cut'
  | 'cut at the acknowledged end'
  | 'zeroed'
  | 'garbled'
  | 'flipped bit'
  | 'garbage behind'

export const damages: readonly Damage[] = [
  'none',
  'cut',
  'cut at the acknowledged end',
  'zeroed',
  'garbled',
  'flipped bit',
  'garbage behind',
]

type Chance = (limit: number) => number

/** Damages a log file behind `from`. `chance` gives a number below its argument. */
export function damageLog(path: string, from: number, damage: Damage, chance: Chance): void {
  const log = readFileSync(path)
  const tail = log.length - from
  const at = from + (tail > 0 ? chance(tail) : 0)
  const noise = (bytes: number): Buffer => Buffer.from(Array.from({ length: bytes }, () => chance(256)))
  writeFileSync(path, damaged())

  function damaged(): Buffer {
    switch (damage) {
      case 'none':
        return log
      case 'cut':
        return log.subarray(0, at)
      case 'cut at the acknowledged end':
        return log.subarray(0, from)
      case 'zeroed':
        return Buffer.from(log).fill(0, at)
      case 'garbled':
        return Buffer.concat([log.subarray(0, at), noise(log.length - at)])
      case 'flipped bit': {
        const flipped = Buffer.from(log)
        if (tail > 0) flipped[at] = (flipped[at] ?? 0) ^ (1 << chance(8))
        return flipped
      }
      case 'garbage behind':
        return Buffer.concat([log, noise(1 + chance(10_000))])
    }
  }
}
