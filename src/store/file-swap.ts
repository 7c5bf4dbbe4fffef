import { linkSync, renameSync, rmSync } from 'node:fs'

/** Changes of files that belong together. Either all of them stay, or `takeBack` undoes those already made. */
export class FileSwap {
  private readonly undoings: (() => void)[] = []

  rename(from: string, to: string): void {
    renameSync(from, to)
    this.undoings.push(() => renameSync(to, from))
  }

  /** Gives a file a second name. The file stays under that name when another file replaces it. */
  keep(path: string, aside: string): void {
    try {
      linkSync(path, aside)
    } catch {
      return this.rename(path, aside) // Without hard links there is no file for a moment.
    }
    this.undoings.push(() => {
      renameSync(aside, path)
      rmSync(aside, { force: true }) // A rename between two names of one file does nothing (POSIX).
    })
  }

  /** Undoes everything, the last change first. Returns the system's errors for what could not be undone. */
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
