import { readFileSync } from 'node:fs'

const SHELL = /^(?:busybox|\w*sh)$/

/**
 * The processes above this one if a package runner started it (`npm start`, `npx tollgate`). There is a shell, which
 * receives the runner's signals and does not pass them on. Above it is the runner, which dies of an unknown signal.
 * Returns their process ids, the nearest first. The list is empty if no runner started this process.
 * @returns {Promise<number[]>}
 */
export async function runnersAbove() {
  if (!process.env.npm_lifecycle_event || process.platform === 'win32') return []
  const parent = process.ppid
  const { name, above } = await look(parent)
  // Some shells become the program that they run. Then the parent is the runner, and the process above it is ignored.
  return SHELL.test(name) && above > 1 ? [parent, above] : [parent]
}

/** @param {number} pid @returns {Promise<{ name: string, above: number }>} */
async function look(pid) {
  try {
    if (process.platform === 'linux') {
      // "pid (name) state parent …". The name may contain any character.
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      const end = stat.lastIndexOf(')')
      return { name: stat.slice(stat.indexOf('(') + 1, end), above: Number(stat.slice(end + 2).split(' ')[1]) }
    }
    const { execFileSync } = await import('node:child_process')
    const line = execFileSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    const [, above = '0', name = ''] = /^(\d+)\s+(?:.*\/)?-?(.*)$/.exec(line) ?? []
    return { name, above: Number(above) }
  } catch {
    return { name: '', above: 0 }
  }
}
