import { readFileSync } from 'node:fs'

const SHELL = /^(?:busybox|\w*sh)$/

/**
 * Whoever stands between this process and a package runner that was told to run it (`npm start`, `npx tollgate`): a
 * shell, to which the runner passes its signals on and which passes on none, and the runner itself, which dies of a
 * signal that it does not know. Their process ids, the nearest first; none where this process was run by itself.
 * @returns {Promise<number[]>}
 */
export async function runnersAbove() {
  if (!process.env.npm_lifecycle_event || process.platform === 'win32') return []
  const parent = process.ppid
  const { name, above } = await look(parent)
  // Some shells become the program they run: then the parent is the runner, and what is above it is nobody's business.
  return SHELL.test(name) && above > 1 ? [parent, above] : [parent]
}

/** @param {number} pid @returns {Promise<{ name: string, above: number }>} */
async function look(pid) {
  try {
    if (process.platform === 'linux') {
      // "pid (name) state parent …"; the name may hold anything.
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
