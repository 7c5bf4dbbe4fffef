/**
 * The files of the container image as `deploy/Dockerfile` makes them, without a daemon. Its stages are folders, its
 * COPY lines take what `.dockerignore` leaves of the repository, and its other commands run in the stage's folder. What
 * would need a registry is taken from this checkout.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '../..')
export const dockerfile = (): string => readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8')
export const dockerignore = (): string => readFileSync(join(ROOT, '.dockerignore'), 'utf8')

export type Image = {
  /** The folder that stands for its root. */
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly workdir: string
  /** The command, its paths those of the image. */
  readonly command: readonly string[]
}
type Stage = Image & { readonly name: string }

/** The lines of a Dockerfile, continued ones joined, without comments. */
const instructionsIn = (text: string): (readonly [word: string, rest: string])[] =>
  text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => [/^\w+/.exec(line)?.[0] ?? '', line.replace(/^\w+\s*/, '')] as const)

/** Whether a path of the repository is sent to the builder: the last pattern that fits it or a folder above decides. */
function isSent(path: string, ignore: string): boolean {
  const patterns = ignore.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  let sent = true
  for (const pattern of patterns) {
    const [isKept, glob] = pattern.startsWith('!')
      ? [true, new Bun.Glob(pattern.slice(1))]
      : [false, new Bun.Glob(pattern)]
    const parts = path.split('/')
    if (parts.some((_, i) => glob.match(parts.slice(0, i + 1).join('/')))) sent = isKept
  }
  return sent
}

/** Copies what is sent of a file or folder of the repository. Throws where that is nothing. */
function copySent(from: string, to: string, ignore: string): void {
  const below = (path: string): string[] =>
    statSync(join(ROOT, path)).isDirectory()
      ? readdirSync(join(ROOT, path)).flatMap((name) => (name === 'node_modules' ? [] : below(`${path}/${name}`)))
      : [path]
  const files = existsSync(join(ROOT, from)) ? below(from).filter((path) => isSent(path, ignore)) : []
  if (files.length === 0) throw new Error(`COPY ${from}: not found in what .dockerignore leaves`)
  for (const file of files) {
    const target = file === from ? to : join(to, relative(from, file))
    mkdirSync(dirname(target), { recursive: true })
    cpSync(join(ROOT, file), target)
  }
}

type Lock = { readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>> }

/** What `npm ci --omit=dev` installs, from this checkout. */
function installRuntime(folder: string): void {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock
  for (const [path, { dev }] of Object.entries(packages)) {
    if (
      !path.startsWith('node_modules/') ||
      dev ||
      path.lastIndexOf('node_modules/') > 0 ||
      !existsSync(join(ROOT, path))
    )
      continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(ROOT, path), join(folder, path))
  }
}

const fromCheckout = (path: string, folder: string, as = path): void => {
  if (existsSync(join(ROOT, path))) cpSync(join(ROOT, path), join(folder, as), { recursive: true })
}

/** Commands that need a registry, and those of the base image's own system. */
const standIns: readonly (readonly [RegExp, (folder: string) => void])[] = [
  [/^npm ci --omit=dev\b/, installRuntime],
  [/^npm ci\b/, () => undefined],
  [/^node node_modules\/vite\//, (folder) => fromCheckout('web/dist', folder, 'dist')],
  [/^node tools\/viewer\.js$/, (folder) => fromCheckout('dist/docs', folder)],
  [/^(?:rm -rf|install -d .*|ln -s \/app\/\S+) \/(?:usr|data|opt)\b/, () => undefined],
]

function runAll(commands: string, folder: string): void {
  for (const command of commands.split('&&').map((one) => one.trim())) {
    const standIn = standIns.find(([pattern]) => pattern.test(command))
    if (standIn) {
      standIn[1](folder)
      continue
    }
    const { success, stderr } = Bun.spawnSync(['sh', '-c', command], { cwd: folder })
    if (!success) throw new Error(`RUN ${command}: ${stderr.toString()}`)
  }
}

type Files = { readonly text?: string; readonly ignore?: string }

/** Builds the image below a folder. */
export function buildImage(folder: string, { text = dockerfile(), ignore = dockerignore() }: Files = {}): Image {
  const stages: Stage[] = []
  let stage: Stage | undefined
  const inStage = (path: string): string => join(stage?.root ?? '', resolve(stage?.workdir ?? '/', path))
  const change = (changed: Partial<Image>): void => {
    if (!stage) throw new Error('there is no stage yet')
    stage = { ...stage, ...changed }
    stages[stages.length - 1] = stage
  }
  for (const [word, rest] of instructionsIn(text)) {
    switch (word) {
      case 'FROM': {
        const name = / AS (\w+)$/.exec(rest)?.[1] ?? String(stages.length)
        stage = { name, root: join(folder, name), env: {}, workdir: '/', command: [] }
        stages.push(stage)
        break
      }
      case 'WORKDIR':
        change({ workdir: rest })
        mkdirSync(inStage('.'), { recursive: true })
        break
      case 'ENV':
        change({ env: Object.fromEntries(rest.split(' ').map((pair) => pair.split('=') as [string, string])) })
        break
      case 'COPY': {
        const words = rest.split(/\s+/).filter((one) => !one.startsWith('--'))
        const source = stages.find(({ name }) => name === /--from=(\w+)/.exec(rest)?.[1])
        const to = words.pop() ?? ''
        for (const from of words) {
          const target = to.endsWith('/') ? join(inStage(to), basename(from)) : inStage(to)
          if (source) cpSync(join(source.root, from), target, { recursive: true, verbatimSymlinks: true })
          else copySent(from, target, ignore)
        }
        break
      }
      case 'RUN':
        runAll(rest, inStage('.'))
        break
      case 'ENTRYPOINT':
      case 'CMD':
        change({ command: [...(stage?.command ?? []), ...(JSON.parse(rest) as string[])] })
        break
      default:
        break
    }
  }
  if (!stage) throw new Error('the Dockerfile has no stage')
  return stage
}
