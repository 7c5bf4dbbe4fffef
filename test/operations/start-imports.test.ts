/**
 * The modules that `tollgate serve` loads before it answers. Imports are most of a start: yaml takes 30 ms, and schemas
 * take 80 ms.
 */
import { expect, test } from 'bun:test'
import { dirname, join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '../..')
const transpiler = new Bun.Transpiler({ loader: 'ts' })

/** All that the files import statically, and what that imports in turn: our files by path, packages by name. */
async function reachable(entries: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set(entries)
  for (const path of found) {
    if (!path.endsWith('.ts')) continue
    const { imports } = transpiler.scan(await Bun.file(join(ROOT, path)).text())
    for (const { kind, path: name } of imports) {
      if (kind !== 'import-statement') continue
      found.add(name.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(path), name)) : name)
    }
  }
  return found
}

test('a start without tollgate.yaml and without S3 loads no parser, no S3, no telemetry, no operations and no vendor', async () => {
  const loaded = await reachable(['src/main.ts', 'src/cli/serve.ts', 'src/config.ts', 'src/serve.ts'])
  expect(loaded).toContain('src/edge/edge.ts')
  for (const late of [
    'src/declaration.ts',
    'src/blobs/s3-blobs.ts',
    'src/blobs/s3-client.ts',
    'src/blobs/bucket-settings.ts',
    'src/fixed-limits.ts',
    'src/telemetry/settings.ts',
    'src/telemetry/telemetry.ts',
    'src/lib/http/trace-context.ts',
    'src/admin/operations.ts',
    'sandbox/server.ts',
    'src/formats/chat/schema.ts',
  ]) {
    expect(loaded).not.toContain(late)
  }
})

test('no package is loaded at the start', async () => {
  const loaded = await reachable(['src/main.ts', 'src/cli/serve.ts', 'src/config.ts', 'src/serve.ts'])
  expect([...loaded].filter((name) => !/^(src\/|sandbox\/|node:|bun|package.json)/.test(name))).toEqual([])
})
