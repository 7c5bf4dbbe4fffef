/** Whether the disk of a folder has room for more than what must never fail. */
import { statfsSync } from 'node:fs'

const CHECKED_MS = 1_000

const freeBytes = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

export class DiskRoom {
  private readonly folder: string
  private readonly bytesMin: number
  private readonly freeBytes: (folder: string) => number
  private checkedMs = Number.NEGATIVE_INFINITY
  private found = false

  /** Short of room is a disk with less than `bytesMin` left. */
  constructor(folder: string, bytesMin: number, free = freeBytes) {
    this.folder = folder
    this.bytesMin = bytesMin
    this.freeBytes = free
  }

  /** Asked of the system once a second at most, and only when somebody wants to know: a call takes microseconds. */
  get isShort(): boolean {
    const nowMs = performance.now()
    if (nowMs - this.checkedMs < CHECKED_MS) return this.found
    this.checkedMs = nowMs
    this.found = this.freeBytes(this.folder) < this.bytesMin
    return this.found
  }
}
