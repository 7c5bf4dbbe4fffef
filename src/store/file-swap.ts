import { linkSync, renameSync, rmSync } from 'node:fs'

/** Changes of files that belong together: all of them stay, or `takeBack` undoes those that were made. */
export class FileSwap {
  private readonly undoings: (() => void)[] = []

  rename(from: string, to: string): void {
    renameSync(from, to)
    this.undoings.push(() => renameSync(to, from))
  }

  /** Gives a file a second name, under which it stays when another one takes its place. */
  keep(path: string, aside: string): void {
    try {
      linkSync(path, aside)
    } catch {
      return this.rename(path, aside) // A file system without hard links: for a moment there is no file.
    }
    this.undoings.push(() => {
      renameSync(aside, path)
      rmSync(aside, { force: true }) // A rename between two names of one file does nothing (POSIX).
    })
  }

  /** Undoes everything, the last first. Returns what could not be undone, in the system's words. */
  takeBack(): readonly string[] {
    const failures: string[] = []
    for (const undo of this.undoings.splice(0).toReversed()) {
      try {
        undo()
      } catch (error) {
        failures.push((error as Error).message)
      }
    }
    return failures
  }
}
