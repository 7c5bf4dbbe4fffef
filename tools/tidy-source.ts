/** Reads sources for tidy.ts: what its rules need to know of a syntax tree, in one walk. */
import { posix } from 'node:path'
import { parseSync, Visitor, type CallExpression, type EcmaScriptModule, type Program, type Span } from 'oxc-parser'
import { mayImport } from './layers.ts'

export type Source = {
  readonly path: string
  readonly text: string
  readonly program: Program
  readonly imports: readonly { readonly specifier: string; readonly target: string; readonly line: number }[]
  readonly syntax: Syntax
  readonly lineOf: (offset: number) => number
}

/** `ownLines` leaves the lines of nested functions out. */
type FunctionSize = { readonly start: number; readonly allLines: number; readonly ownLines: number }

/** The parts of a syntax tree that the rules need, collected in one walk. */
export type Syntax = {
  readonly functions: FunctionSize[]
  readonly literals: (Span & { readonly value: string })[]
  readonly faults: { readonly start: number; readonly rule: string; readonly message: string }[]
  /** `call()`, `new Made()` and `object.member`, by plain names. */
  readonly uses: { readonly start: number; readonly name: string }[]
  readonly typeImports: { readonly start: number; readonly specifier: string }[]
}

export const isCode = (path: string) =>
  /^(?:(?:src|sandbox|tools|test|bench|bin)\/.*\.[jt]s|web\/src\/.*\.tsx?)$/.test(path) && !path.includes('/fixtures/')
/** A contract is a suite that test files run. It says what every implementation of a port must do. */
export const isTest = (path: string) => /(?:\.test|-contract)\.ts$/.test(path) || path.startsWith('test/')
/** The product: the server and the built-in vendor. */
export const isProduct = (path: string) => /^(?:src|sandbox)\//.test(path)
/** The row in the table of layers: a folder, or a single file with a row of its own. */
export function folderOf(path: string): string {
  if (path.startsWith('sandbox/')) return 'sandbox'
  const [, folder = '', file = ''] = path.replace(/\.ts$/, '').split('/')
  return `${folder}/${file}` in mayImport ? `${folder}/${file}` : folder
}

export function readSource(path: string, text: string): Source {
  const { program, module, errors } = parseSync(path, text)
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const lineOf = (offset: number) => starts.findLastIndex((start) => start <= offset) + 1
  const syntax = readSyntax(program, text, lineOf)
  for (const { message, labels } of errors) {
    syntax.faults.push({ start: labels[0]?.start ?? 0, rule: 'syntax', message })
  }
  const imports = [...readImports(module, text), ...syntax.typeImports].map(({ start, specifier }) => ({
    specifier,
    target: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : '',
    line: lineOf(start),
  }))
  return { path, text, program, imports, syntax, lineOf }
}

function* readImports(module: EcmaScriptModule, text: string) {
  for (const { start, moduleRequest } of module.staticImports) yield { start, specifier: moduleRequest.value }
  for (const { start, entries } of module.staticExports) {
    const from = entries.find(({ moduleRequest }) => moduleRequest)?.moduleRequest
    if (from) yield { start, specifier: from.value }
  }
  for (const { start, moduleRequest } of module.dynamicImports) {
    const literal = /^(['"`])(.*)\1$/.exec(text.slice(moduleRequest.start, moduleRequest.end))
    if (literal?.[2]) yield { start, specifier: literal[2] }
  }
}

function readSyntax(program: Program, text: string, lineOf: Source['lineOf']): Syntax {
  const syntax: Syntax = { functions: [], literals: [], faults: [], uses: [], typeImports: [] }
  const open: { innerLines: number }[] = []
  const enter = () => void open.push({ innerLines: 0 })
  // The first and last line of a nested function belong to the outer one, which has code on them.
  const leave = ({ start, end }: Span) => {
    const lines = lineOf(end) - lineOf(start) + 1
    syntax.functions.push({ start, allLines: lines, ownLines: lines - (open.pop()?.innerLines ?? 0) })
    const outer = open.at(-1)
    if (outer) outer.innerLines += Math.max(0, lines - 2)
  }
  // A comment in the braces says why nothing is done.
  const isBlank = ({ start, end }: Span) => /^\{\s*\}$/.test(text.slice(start, end))
  const fault = ({ start }: Span, rule: string, message: string) => void syntax.faults.push({ start, rule, message })
  new Visitor({
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': leave,
    Literal(node) {
      const isText = typeof node.value === 'string' || 'regex' in node
      if (isText) syntax.literals.push({ ...node, value: String(node.value) })
    },
    TemplateLiteral(node) {
      syntax.literals.push({ ...node, value: node.quasis.map(({ value }) => value.cooked ?? '').join('x') })
    },
    TSImportType: ({ start, source }) => void syntax.typeImports.push({ start, specifier: source.value }),
    TSEnumDeclaration: (node) => fault(node, 'enum', 'use a union of literals'),
    ExportDefaultDeclaration: (node) => fault(node, 'default-export', 'export by name'),
    CatchClause(node) {
      if (isBlank(node.body)) fault(node, 'empty-catch', 'handle the error, let it pass, or say why not')
    },
    CallExpression(node) {
      const { callee } = node
      const handler = catchHandler(node)
      if (handler && isBlank(handler)) fault(node, 'empty-catch', 'handle the error, let it pass, or say why not')
      if (callee.type === 'Identifier') syntax.uses.push({ start: node.start, name: `${callee.name}()` })
    },
    NewExpression({ start, callee, arguments: args }) {
      if (callee.type !== 'Identifier' || args.length > 0) return
      syntax.uses.push({ start, name: `new ${callee.name}()` })
    },
    MemberExpression({ start, object, property }) {
      if (object.type !== 'Identifier' || property.type !== 'Identifier') return
      syntax.uses.push({ start, name: `${object.name}.${property.name}` })
    },
  }).visit(program)
  return syntax
}

/** The body of the arrow function in `.catch(() => {})`, which is an empty catch as well. */
function catchHandler({ callee, arguments: [handler] }: CallExpression): Span | undefined {
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return undefined
  return callee.property.name === 'catch' && handler?.type === 'ArrowFunctionExpression' ? handler.body : undefined
}
