import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const TMPFS = 0x01021994

/** A folder on a disk. In a file system in memory a commit costs nothing, and the bench would flatter the gateway. */
export const diskFolder = (): string =>
  [tmpdir(), '/var/tmp', process.cwd()].find((path) => statfsSync(path).type !== TMPFS) ?? tmpdir()
