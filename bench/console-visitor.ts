/**
 * A visitor who opens a page of the console every second until killed: two calls at once, as most pages make one or
 * two. It is a process of its own, so that reading the answers takes no time from the chat clients. Run by
 * bench/console.ts.
 */
const CLICK_MS = 1_000
const CALLS = 2

export type Visit = {
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  /** Below `/admin/v1`. */
  readonly paths: readonly string[]
}

/** Starts a visitor. `stop` ends it. */
export function spawnVisitor(visit: Visit): { stop(): Promise<void> } {
  const child = Bun.spawn([process.execPath, '--no-env-file', import.meta.path], {
    env: { VISIT: JSON.stringify(visit) },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return {
    async stop() {
      if (child.exitCode !== null) throw new Error('the visitor of the console gave up')
      child.kill()
      await child.exited
    },
  }
}

if (import.meta.main) {
  const { origin, headers, paths } = JSON.parse(process.env['VISIT'] ?? '') as Visit
  const ask = async (path: string): Promise<void> => {
    const answer = await fetch(`${origin}/admin/v1${path}`, { headers })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  }
  // It begins at a random page, so that short visits differ.
  for (let i = Math.floor(Math.random() * paths.length); ; i += CALLS) {
    await Promise.all(Array.from({ length: CALLS }, (_, k) => ask(paths[(i + k) % paths.length] ?? '')))
    await Bun.sleep(CLICK_MS)
  }
}
