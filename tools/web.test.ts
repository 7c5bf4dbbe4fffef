/**
 * The rules of the console's application: which layer may import which, and that every sentence is in the dictionaries.
 */
import { expect, test } from 'bun:test'
import { posix } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { loadConfig } from '../src/config.ts'
import { fixedLimits } from '../src/fixed-limits.ts'
import { en } from '../web/src/lib/i18n/en.ts'
import { server } from '../web/src/lib/i18n/en/server.ts'
import { server as inChinese } from '../web/src/lib/i18n/zh/server.ts'
import { zh } from '../web/src/lib/i18n/zh.ts'
import { readTree } from './tidy.ts'

const ROOT = 'web/src/'
/** From the bottom up. Parts are pieces that several features share. A feature imports no other feature. */
const layers = ['lib', 'ui', 'parts', 'features', 'routes', 'app'] as const

const tree = new Map(
  [...(await readTree(`${import.meta.dir}/..`))].filter(
    ([path]) => /^web\/src\/.*\.tsx?$/.test(path) && !path.includes('.test.'),
  ),
)

const layerOf = (path: string): number => layers.findIndex((layer) => path.startsWith(`${ROOT}${layer}/`))
const featureOf = (path: string): string | undefined => /\/features\/([^/]+)\//.exec(path)?.[1]

function importsOf(path: string, text: string): readonly string[] {
  const { module } = parseSync(path, text)
  const dynamic = module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1))
  return [...module.staticImports.map(({ moduleRequest }) => moduleRequest.value), ...dynamic]
    .filter((name) => name.startsWith('.'))
    .map((name) => posix.join(posix.dirname(path), name))
}

test('a file imports its own layer or a lower one, and no feature imports another', () => {
  const breaches = [...tree].flatMap(([path, text]) =>
    importsOf(path, text)
      .filter((target) => {
        const isUp = layerOf(target) > layerOf(path)
        const isSideways = featureOf(path) !== undefined && (featureOf(target) ?? featureOf(path)) !== featureOf(path)
        // The router names the pages. No other file imports from a higher layer.
        return (isUp || isSideways) && !path.startsWith(`${ROOT}app/`)
      })
      .map((target) => `${path} imports ${target}`),
  )
  expect(tree.size).toBeGreaterThan(50)
  expect(breaches).toEqual([])
})

test('the dictionaries import nothing of the console', () => {
  const words = [...tree].filter(([path]) => path.startsWith(`${ROOT}lib/i18n/`))
  const outside = words.flatMap(([path, text]) =>
    importsOf(path, text).filter((target) => !target.startsWith(`${ROOT}lib/i18n/`)),
  )
  expect(words.length).toBeGreaterThan(15)
  expect(outside).toEqual([])
})

/** STYLE.md does not count nested functions into an outer one. For a component that would leave almost nothing. */
const WHOLE_LINES_MAX = 70

test('a component with all its nested code is at most one screen long', () => {
  const long: string[] = []
  for (const [path, text] of tree) {
    const note = ({ start, end }: { readonly start: number; readonly end: number }): void => {
      const lines = text.slice(start, end).split('\n').length
      if (lines > WHOLE_LINES_MAX) long.push(`${path}: ${text.slice(start, start + 40)} ${lines}`)
    }
    const visitor = new Visitor({
      FunctionDeclaration: note,
      FunctionExpression: note,
      ArrowFunctionExpression: note,
    })
    visitor.visit(parseSync(path, text).program)
  }
  expect(long).toEqual([])
})

/** Names, which are the same in every language. */
const names = new Set(['Tollgate', 'CSV'])
const attributes = new Set(['aria-label', 'title', 'placeholder', 'label', 'alt', 'hint'])

test('no sentence is in the code', () => {
  const found: string[] = []
  for (const [path, text] of tree) {
    const { program } = parseSync(path, text)
    const note = (value: string): void => {
      const words = value.trim()
      if (/\p{L}/u.test(words) && !names.has(words)) found.push(`${path}: ${words}`)
    }
    new Visitor({
      JSXText: ({ value }) => note(value),
      JSXAttribute: ({ name, value }) => {
        const isShown = name.type === 'JSXIdentifier' && attributes.has(name.name)
        if (isShown && value?.type === 'Literal') note(String(value.value))
      },
    }).visit(program)
  }
  expect(found).toEqual([])
})

test('every sentence is used', () => {
  const code = [...tree].filter(([path]) => !path.includes('/i18n/')).map(([, text]) => text)
  const all = code.join('\n')
  const prefixes = [...all.matchAll(/`([\w.]+\.)\$\{/g)].map(([, prefix = '']) => prefix)
  const isUsed = (key: string): boolean => all.includes(`'${key}'`) || prefixes.some((prefix) => key.startsWith(prefix))
  expect(Object.keys(en).filter((key) => !isUsed(key))).toEqual([])
})

test('every limit of the server has a text', async () => {
  const { limits } = await loadConfig({ TOLLGATE_CONFIG: '' })
  const names = [
    ...Object.keys(limits).map((name) => `limits.${name}`),
    ...[...fixedLimits.keys()].map((name) => `fixed_limits.${name}`),
  ]
  expect(names.filter((name) => !(name in server && name in inChinese))).toEqual([])
})

const valuesIn = (sentence: string): readonly string[] =>
  [...new Set([...sentence.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))].toSorted()

test('both languages name the same values', () => {
  const differing = Object.entries(en).filter(([key, sentence]) => {
    const other = zh[key as keyof typeof en]
    return valuesIn(sentence).join() !== valuesIn(other).join() || other.trim() === ''
  })
  expect(differing.map(([key]) => key)).toEqual([])
})
