/** Asks the C library to give back what is free. Only the GNU one keeps much, and only it can be asked. */
import type { WorkerRequest, WorkerResponse } from './idle-worker.ts'

declare const self: Worker

async function trim(): Promise<void> {
  try {
    const { dlopen } = await import('bun:ffi')
    const { symbols } = dlopen('libc.so.6', { malloc_trim: { args: ['usize'], returns: 'int' } })
    symbols.malloc_trim(0)
  } catch {
    // Another library, or a system on which nothing may be compiled.
  }
}

self.onmessage = ({ data: { id } }: MessageEvent<WorkerRequest<'trim'>>) =>
  void trim().then(() => self.postMessage({ id, answer: 'done' } satisfies WorkerResponse<'done'>))
