/** Asks the C library to return free memory. Only the GNU library keeps much, and only it has a function for this. */
import type { WorkerRequest, WorkerResponse } from './idle-worker.ts'

declare const self: Worker

async function trim(): Promise<void> {
  try {
    const { dlopen } = await import('bun:ffi')
    const { symbols } = dlopen('libc.so.6', { malloc_trim: { args: ['usize'], returns: 'int' } })
    symbols.malloc_trim(0)
  } catch {
    // The system has another library, or does not allow compiling.
  }
}

self.onmessage = ({ data: { id } }: MessageEvent<WorkerRequest<'trim'>>) =>
  void trim().then(() => self.postMessage({ id, answer: 'done' } satisfies WorkerResponse<'done'>))
