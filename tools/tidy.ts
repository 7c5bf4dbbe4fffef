/**
 * bun tools/tidy.ts: the rules of STYLE.md and ARCHITECTURE.md that neither compiler nor linter knows. Prints
 * `path:line rule message` per finding and exits 1 if there is any. tidy.test.ts applies them to the tree.
 */
import { posix } from 'node:path'
import type { Program } from 'oxc-parser'
import { mayImport } from './layers.ts'
import { checkNames } from './name-rules.ts'
import { vendorsNamedIn } from './vendor-words.ts'
import { type Source, type Syntax, isCode, isTest, isProduct, folderOf, readSource } from './tidy-source.ts'

/** Folders that get the time as an argument and never reach outside the process. */
const pureFolders = ['domain', 'vendors', 'modalities', 'router']
/** Folders that own a table, or the connections to all of them. */
const sqlFolders = ['store', 'accounts', 'catalog', 'ledger', 'records', 'responses', 'video', 'blobs']
/** Names that say nothing about the content. */
const emptyNames = 'util utils helper helpers manager service common misc base handler2 new'.split(' ')

const limits = {
  functionLines: 70,
  fileLines: 300,
  /** With a reason. */
  longFileLines: 400,
  testFileLines: 800,
  lineLength: 120,
  architectureLines: 150,
}
/** The first comment of a long file gives the reason for its length. */
const longFileReason = /^\/\*\*(?:[^*]|\*(?!\/))*\bOver 300 lines: \w/

const sqlShapes = String.raw`SELECT\s[^]*\sFROM\s|INSERT\s+(?:\w+\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s`
// All in one case: 'Select a model from the list' is prose.
const sqlStatement = new RegExp(`^\\s*(?:${sqlShapes}|${sqlShapes.toLowerCase()})`)
/** What a pure folder must not use, in the spelling of readSyntax. */
const effect = /^(?:(?:fetch|setTimeout|setInterval)\(\)|new Date\(\)|Date\.now|(?:process|Bun|performance)\.\w+)$/
// Built from words, so that this file does not match itself.
const machinePath = new RegExp(`(?<![\\w./~-])/(?:${['home', 'Users', 'root', 'work'].join('|')})/[\\w.-]`)
const registryHost = /\b(?:registry|artifactory|nexus|verdaccio)\.[\w-]+\.(?:com|org|net|io|dev|local|internal)\b/

/** A broken rule, at a line counted from 1. */
export type Finding = { readonly path: string; readonly line: number; readonly rule: string; readonly message: string }

/** Repository-relative paths (with `/`) and their text. */
export type Tree = ReadonlyMap<string, string>

/** All findings in a tree, by path and line. */
export function inspect(tree: Tree): Finding[] {
  const sources = [...tree].filter(([path]) => isCode(path)).map(([path, text]) => readSource(path, text))
  const inSrc = new Map(sources.filter(({ path }) => isProduct(path)).map((source) => [source.path, source]))
  const found = [
    ...[...tree].flatMap(([path, text]) => [...checkText(path, text)]),
    ...sources.flatMap((source) => [...checkShape(source), ...checkSize(source)]),
    ...[...inSrc.values()].flatMap((source) => [...checkImports(source), ...checkContent(source)]),
    ...checkNames(sources),
    ...checkCycles(new Map(sources.map((source) => [source.path, source]))),
    ...checkOrphans(inSrc),
    ...checkLimits(inSrc),
  ]
  return found.toSorted((a, b) => a.path.localeCompare(b.path) || a.line - b.line)
}

/** One line for people, which editors can follow. */
export const show = ({ path, line, rule, message }: Finding) => `${path}:${line} ${rule} ${message}`

// ---- Rules for one file

function* checkText(path: string, text: string): Generator<Finding> {
  const lines = text.split('\n')
  for (const [i, line] of lines.entries()) {
    const at = { path, line: i + 1 }
    if (machinePath.test(line)) yield { ...at, rule: 'machine-path', message: 'names a folder of one machine' }
    if (registryHost.test(line)) yield { ...at, rule: 'registry-host', message: 'names a package registry' }
  }
  if (path.endsWith('package-lock.json')) yield* checkLockfile(path, text)
  const max = limits.architectureLines
  if (path === 'ARCHITECTURE.md' && lines.length - 1 > max) {
    yield { path, line: max + 1, rule: 'file-lines', message: `${lines.length - 1} > ${max}` }
  }
  if (!path.endsWith('.md') || path.includes('/fixtures/')) return
  const titles = text.replaceAll(/^(```|~~~)[^]*?^\1/gm, (block) => block.replaceAll(/.+/g, '')).split('\n')
  const at = titles.flatMap((line, i) => (line.startsWith('# ') ? [i + 1] : []))
  if (at.length !== 1) yield { path, line: at[1] ?? 1, rule: 'one-title', message: `${at.length} H1 instead of one` }
}

type LockEntry = { readonly resolved?: string; readonly optionalDependencies?: Readonly<Record<string, string>> }

/**
 * npm leaves out optional packages that the registry in use does not serve. Then `npm ci` refuses the lockfile on every
 * machine, and an entry with version, os and cpu has to be added by hand.
 */
function* checkLockfile(path: string, text: string): Generator<Finding> {
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, LockEntry>> }
  for (const [name, { resolved, optionalDependencies = {} }] of Object.entries(packages)) {
    const at = { path, line: text.slice(0, text.indexOf(`"${name}": {`)).split('\n').length }
    if (resolved?.startsWith('http')) yield { ...at, rule: 'registry-host', message: `${name} is tied to a registry` }
    for (const wanted of Object.keys(optionalDependencies)) {
      const isThere = `node_modules/${wanted}` in packages || `${name}/node_modules/${wanted}` in packages
      if (!isThere) yield { ...at, rule: 'lock-gap', message: `${wanted} has no entry, npm ci would fail` }
    }
  }
}

function* checkShape({ path, program, syntax, lineOf }: Source): Generator<Finding> {
  for (const { start, rule, message } of syntax.faults) {
    if (rule === 'default-export' && /\.config\.[jt]s$/.test(path)) continue
    yield { path, line: lineOf(start), rule, message }
  }
  const isBarrel = program.body.every(passesOn) && program.body.some(({ type }) => type.startsWith('Export'))
  if (isBarrel) yield { path, line: 1, rule: 'barrel', message: 'only passes on what other files define' }
  const name = posix.basename(path)
  const empty = path.split(/[/.-]/).find((word) => emptyNames.includes(word))
  if (empty) yield { path, line: 1, rule: 'file-name', message: `'${empty}' names no idea` }
  if (!/^[a-z0-9]+(?:[.-][a-z0-9]+)*$/.test(name)) yield { path, line: 1, rule: 'file-name', message: 'use kebab-case' }
}

/** An import, or an export that declares nothing. */
function passesOn(statement: Program['body'][number]): boolean {
  const { type } = statement
  if (type === 'ExportNamedDeclaration') return statement.declaration === null
  return type === 'ImportDeclaration' || type === 'ExportAllDeclaration'
}

function* checkSize({ path, text, syntax, lineOf }: Source): Generator<Finding> {
  for (const { start, allLines, ownLines } of syntax.functions) {
    // A suite of tests is a function around the tests.
    const count = isTest(path) ? ownLines : allLines
    if (count <= limits.functionLines) continue
    yield { path, line: lineOf(start), rule: 'function-lines', message: `${count} > ${limits.functionLines}` }
  }
  const lines = text.split('\n')
  const productMax = longFileReason.test(text) ? limits.longFileLines : limits.fileLines
  const max = isTest(path) ? limits.testFileLines : productMax
  // The rows of vendors are data, so their number is free. Nobody reads a generated file through.
  const isFree = /^src\/vendors\/(?:presets|rules)\.ts$/.test(path) || path.endsWith('.gen.ts')
  if (lines.length - 1 > max && !isFree) {
    yield { path, line: max + 1, rule: 'file-lines', message: `${lines.length - 1} > ${max}` }
  }
  let start = 0
  for (const [i, line] of lines.entries()) {
    if (line.length > limits.lineLength && breakableLength(line, start, syntax) > limits.lineLength) {
      yield { path, line: i + 1, rule: 'line-length', message: `${line.length} > ${limits.lineLength}` }
    }
    start += line.length + 1
  }
}

/** The length of a line without its literals and URLs, which cannot be broken. */
function breakableLength(line: string, start: number, { literals }: Syntax): number {
  const shared = literals.map((span) => Math.min(span.end, start + line.length) - Math.max(span.start, start))
  const literalLength = shared.filter((length) => length > 0).reduce((sum, length) => sum + length, 0)
  return line.replaceAll(/https?:\/\/\S+/g, '').length - literalLength
}

function* checkContent({ path, text, syntax, lineOf }: Source): Generator<Finding> {
  if (isTest(path)) return
  const folder = folderOf(path)
  for (const { start, value } of sqlFolders.includes(folder) ? [] : syntax.literals) {
    if (sqlStatement.test(value)) yield { path, line: lineOf(start), rule: 'sql', message: `${folder} owns no table` }
  }
  for (const { start, name } of pureFolders.includes(folder) ? syntax.uses : []) {
    if (effect.test(name)) yield { path, line: lineOf(start), rule: 'pure', message: `${folder} must not use ${name}` }
  }
  for (const [i, line] of folder === 'domain' ? text.split('\n').entries() : []) {
    for (const word of vendorsNamedIn(path, line)) {
      yield { path, line: i + 1, rule: 'vendor', message: `names ${word}: what one vendor does belongs in src/vendors` }
    }
  }
}

// ---- Rules between files

function* checkImports({ path, imports }: Source): Generator<Finding> {
  const folder = folderOf(path)
  const allowed = mayImport[folder]
  if (!allowed && !isTest(path)) {
    yield { path, line: 1, rule: 'layers', message: `${folder} is not in mayImport of tools/layers.ts` }
  }
  for (const { specifier, target, line } of imports) {
    if (/^(?:#|~|@\/|\/|src\/)/.test(specifier)) yield { path, line, rule: 'path-alias', message: specifier }
    if (target === '' || target === 'package.json' || isTest(path)) continue
    const other = folderOf(target)
    const isAllowed =
      isProduct(target) && (other === folder || allowed?.includes(other) || allowed?.includes(target.slice(4)))
    if (!isAllowed) yield { path, line, rule: 'layers', message: `${folder} must not import ${target}` }
    if (isStore(target) && !isStore(path) && !wiring.includes(folder)) {
      yield { path, line, rule: 'ports', message: `import the port, not ${target}` }
    }
    if (isSibling(path, target)) yield { path, line, rule: 'dialects', message: `import formats/core, not ${target}` }
  }
}

/** The files that put a gateway together: they alone choose the technology behind a port. */
const wiring = ['configured-ledger', 'gateway', 'serve', 'database', 'hosted-files', 'kept-content']
const isStore = (path: string): boolean =>
  /^src\/(?!lib\/).*\/(?:sqlite|sql|postgres|folder|s3|local|memory)-[\w-]+\.ts$/.test(path)

/** Two dialects share code only through formats/core, so that each can be read, and removed, without the others. */
function isSibling(path: string, target: string): boolean {
  const [own, other] = [path, target].map((one) => /^src\/formats\/(\w+)\/./.exec(one)?.[1])
  return own !== undefined && other !== undefined && other !== own && other !== 'core'
}

/** In all code, in src or not. Depth first: an import of a file that is still being visited closes a cycle. */
function* checkCycles(sources: ReadonlyMap<string, Source>): Generator<Finding> {
  const done = new Set<string>()
  function* visit(source: Source, trail: readonly string[]): Generator<Finding> {
    const { path } = source
    for (const { target, line } of done.has(path) ? [] : source.imports) {
      const next = sources.get(target)
      const from = [...trail, path].indexOf(target)
      if (from !== -1) {
        yield { path, line, rule: 'cycle', message: [...trail, path, target].slice(from).join(' → ') }
      } else if (next) yield* visit(next, [...trail, path])
    }
    done.add(path)
  }
  for (const source of sources.values()) yield* visit(source, [])
}

/** A file is used if main, a worker or a test of its own leads to it. Not checked before there is a main. */
function* checkOrphans(sources: ReadonlyMap<string, Source>): Generator<Finding> {
  if (!sources.has('src/main.ts')) return
  const isRoot = (path: string) =>
    path === 'src/main.ts' || path.endsWith('-worker.ts') || sources.has(path.replace(/\.ts$/, '.test.ts'))
  const used = new Set([...sources.keys()].filter(isRoot))
  // A set also iterates over what is added meanwhile.
  for (const path of used) for (const { target } of sources.get(path)?.imports ?? []) used.add(target)
  for (const path of sources.keys()) {
    if (!used.has(path) && !isTest(path)) yield { path, line: 1, rule: 'orphan', message: 'no file imports it' }
  }
}

/** `tollgate doctor` shows what these modules declare. */
function* checkLimits(sources: ReadonlyMap<string, Source>): Generator<Finding> {
  const list = sources.get('src/fixed-limits.ts')
  const listed = new Set(list?.imports.map(({ target }) => target))
  for (const { path, imports } of list ? sources.values() : []) {
    const declaration = imports.find(({ target }) => target === 'src/lib/primitives/limit.ts')
    if (!declaration || path === 'src/fixed-limits.ts' || isTest(path) || listed.has(path)) continue
    yield { path, line: declaration.line, rule: 'limit', message: 'src/fixed-limits.ts does not import it' }
  }
}

// ---- The real tree

/** Every text file that git tracks or would track. Without git, every file outside the folders that git ignores. */
export async function readTree(root: string): Promise<Tree> {
  const git = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  const ignored = /(?:^|\/)(?:node_modules|\.git)\/|^(?:data|\.tmp)\//
  const paths = git.success
    ? git.stdout.toString().split('\0').filter(Boolean)
    : [...new Bun.Glob('**/*').scanSync({ cwd: root, dot: true })].filter((path) => !ignored.test(path))
  const tree = new Map<string, string>()
  for (const path of paths) {
    const file = Bun.file(`${root}/${path}`)
    const text = (await file.exists()) ? await file.text() : '\0'
    if (!text.includes('\0')) tree.set(path.replaceAll('\\', '/'), text)
  }
  return tree
}

if (import.meta.main) {
  const findings = inspect(await readTree(`${import.meta.dir}/..`))
  for (const finding of findings) console.log(show(finding))
  process.exitCode = findings.length > 0 ? 1 : 0
}
