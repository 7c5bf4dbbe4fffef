/** Tells whether the disk of a folder is short of space. A reserve stays for writes that must never fail. */
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

  /** The disk is short of space if it has less than `bytesMin` left. */
  constructor(folder: string, bytesMin: number, free = freeBytes) {
    this.folder = folder
    this.bytesMin = bytesMin
    this.freeBytes = free
  }

  /** The system is asked on demand and at most once a second, because a call takes microseconds. */
  get isShort(): boolean {
    const nowMs = performance.now()
    if (nowMs - this.checkedMs < CHECKED_MS) return this.found
    this.checkedMs = nowMs
    this.found = this.freeBytes(this.folder) < this.bytesMin
    return this.found
  }
}
