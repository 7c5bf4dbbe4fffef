/** Reads the longest tick of a gateway that was started with the tick meter. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestGateway } from './gateway.ts'

export type TickReport = { readonly ticks: number; readonly longestMs: number; readonly over50: number }

/** Of one tick of the serving thread, its own processor time. */
export const TICK_MS_MAX = 100

const reportFile = (folder: string): string => join(folder, 'ticks.json')

/** What `startGateway` needs for it; the folder is the gateway's data folder. */
export const tickMeter = (folder: string): { preload: string[]; env: Record<string, string> } => ({
  preload: [join(import.meta.dir, 'tick-meter.ts')],
  env: { TOLLGATE_TICK_REPORT: reportFile(folder) },
})

/** The ticks of all processes since the last report, or since the start. */
export async function tickReport({ folder, pids }: Pick<TestGateway, 'folder' | 'pids'>): Promise<TickReport> {
  const reports = await Promise.all(pids.map((pid) => reportOf(pid, `${reportFile(folder)}.${pid}`)))
  const sumOf = (name: 'ticks' | 'over50'): number => reports.reduce((sum, one) => sum + one[name], 0)
  return {
    ticks: sumOf('ticks'),
    longestMs: Math.max(...reports.map(({ longestMs }) => longestMs)),
    over50: sumOf('over50'),
  }
}

async function reportOf(pid: number, file: string): Promise<TickReport> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  for (let tries = 0; !existsSync(file); tries++) {
    if (tries > 500) throw new Error('the tick meter does not report')
    await Bun.sleep(20)
  }
  return JSON.parse(readFileSync(file, 'utf8')) as TickReport
}

/** What `work` returns, and the longest tick meanwhile. */
export async function withLongestTick<T>(
  gateway: TestGateway,
  work: () => Promise<T>,
): Promise<{ readonly did: T; readonly longestMs: number }> {
  await tickReport(gateway)
  const did = await work()
  return { did, longestMs: (await tickReport(gateway)).longestMs }
}
