/** A log that nobody reads: the reader left, or has stopped reading. */
import { expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { freshFolder } from './support/gateway.ts'

const ROOT = resolve(import.meta.dir, '..')

/** Serves with its log in a pipe to `reader`; asks `count` times, then ends it. */
const served = (reader: string, count: number): string => `
node ${join(ROOT, 'bin/tollgate.js')} serve >"$TOLLGATE_DATA.out" 2> >(${reader}) & pid=$!
for i in $(seq 100); do grep -q sk-tg "$TOLLGATE_DATA.out" && break; sleep 0.1; done
key=$(grep -o 'sk-tg-[A-Za-z0-9]*' "$TOLLGATE_DATA.out" | head -1)
base=$(sed -n 's/^Base URL *//p' "$TOLLGATE_DATA.out")
for i in $(seq ${count}); do
  curl -s -o /dev/null -w '%{http_code}\\n' -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \\
    -d '{"model":"sandbox-chat","messages":[{"role":"user","content":"x"}],"max_tokens":2}' "$base/chat/completions"
done | sort | uniq -c | tr -s ' '
kill -TERM $pid; wait $pid; echo "exit $?"`

test.each([
  ['left', 'head -n 1 >/dev/null', 6],
  ['stopped reading', 'exec sleep 20', 300],
])(
  'the gateway serves, and ends when it is told to, though the reader of its log has %s',
  async (_, reader, count) => {
    const env = { ...process.env, TOLLGATE_DATA: join(freshFolder(), 'data'), PORT: '0' }
    const child = Bun.spawn(['bash', '-c', served(reader, count)], { cwd: freshFolder(), env, stderr: 'inherit' })
    const startedMs = performance.now()
    expect(await new Response(child.stdout).text()).toBe(` ${count} 200\nexit 0\n`)
    expect(performance.now() - startedMs).toBeLessThan(18_000)
  },
  30_000,
)
