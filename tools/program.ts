/**
 * bun tools/program.ts: writes the program to dist/program as a few files of JavaScript. Bun would otherwise read and
 * translate 500 files of TypeScript at every start. The start of a built program takes two thirds of that time and half
 * of its CPU time. The packages of node_modules stay where they are. The launcher runs the sources if they are newer.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '..')
const TARGET = join(ROOT, 'dist/program')
const SOURCES = ['src', 'sandbox']
const KEPT_MS = 24 * 60 * 60 * 1000

/** The start of a thread or of a process: a file that the program names and does not import. */
const STARTED = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/

const sources = SOURCES.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(ROOT, folder, name)),
)
const started = sources.flatMap((source) => {
  const name = STARTED.exec(readFileSync(source, 'utf8'))?.[1]
  return name === undefined ? [] : [join(dirname(source), `${name}.ts`)]
})

/** Files lie elsewhere than their sources, and a file reads others beside itself: its place must stay what it was. */
const places: Bun.BunPlugin = {
  name: 'places',
  setup(build) {
    build.onLoad({ filter: /\/(?:src|sandbox)\/.*\.ts$/ }, async ({ path }) => ({
      contents: withPlace(await Bun.file(path).text(), path),
      loader: 'ts',
    }))
  },
}

function withPlace(source: string, path: string): string {
  const from = (place: string): string => `new URL(${JSON.stringify(relative(TARGET, place))}, import.meta.url)`
  return source
    .replaceAll(new RegExp(`${STARTED.source}|import\\.meta\\.url`, 'g'), (_, name?: string) =>
      name === undefined ? `${from(path)}.href` : `new URL('./${name}.js', import.meta.url)`,
    )
    .replaceAll(/import\.meta\.dir\b/g, `Bun.fileURLToPath(${from(dirname(path))})`)
}

mkdirSync(TARGET, { recursive: true })
const built = await Bun.build({
  entrypoints: [join(ROOT, 'src/main.ts'), ...started],
  naming: '[name].[ext]',
  target: 'bun',
  packages: 'external',
  splitting: true,
  // Names stay, because logs show them.
  minify: { whitespace: true, syntax: true, identifiers: false },
  plugins: [places],
})
// A server that runs may still load a file of an earlier build, so these files stay for a day. The parts have names of
// their contents, and they come before the files that need them.
const isEntry = (output: Bun.BuildArtifact): boolean => output.kind === 'entry-point'
for (const output of built.outputs.toSorted((a, b) => Number(isEntry(a)) - Number(isEntry(b)))) {
  const file = join(TARGET, output.path)
  await Bun.write(`${file}.new`, output)
  renameSync(`${file}.new`, file)
}
for (const file of readdirSync(TARGET).map((name) => join(TARGET, name))) {
  if (Date.now() - statSync(file).mtimeMs > KEPT_MS) rmSync(file)
}
