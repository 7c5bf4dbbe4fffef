/** Rules for names: a type is a noun that says what it is, and a name is exported by one file. */
import type { Program } from 'oxc-parser'

type File = { readonly path: string; readonly program: Program; readonly lineOf: (offset: number) => number }
type Finding = { readonly path: string; readonly line: number; readonly rule: string; readonly message: string }

/** Participles say that something was done, but not to what. */
const participles = new Set(
  `Asked Begun Broken Brought Built Chosen Done Drawn Found Given Got Heard Held Kept Known Left Looked Lost Made Met Paid
  Read Said Seen Sent Shown Sold Spent Spoken Stood Sworn Taken Taught Thought Told Torn Won Written`.split(/\s+/),
)
/** Nouns that end like a participle. */
const nouns = new Set(['Feed', 'Need', 'Seed', 'Speed', 'Breed', 'Bed', 'Deed'])
const isParticiple = (name: string): boolean =>
  participles.has(name) || (/^[A-Z][a-z]+ed$/.test(name) && !nouns.has(name))

type NamedDeclaration = {
  readonly name: string
  readonly start: number
  readonly kind: 'type' | 'value'
  readonly isExported: boolean
}

function* declarationsOf({ program }: File): Generator<NamedDeclaration> {
  for (const statement of program.body) {
    const isExported = statement.type === 'ExportNamedDeclaration'
    const declaration = isExported ? statement.declaration : statement
    if (!declaration) continue
    const { start } = declaration
    switch (declaration.type) {
      case 'TSTypeAliasDeclaration':
      case 'TSInterfaceDeclaration':
        yield { name: declaration.id.name, start, kind: 'type', isExported }
        break
      case 'ClassDeclaration':
        if (declaration.id) yield { name: declaration.id.name, start, kind: 'type', isExported }
        break
      case 'FunctionDeclaration':
        if (declaration.id) yield { name: declaration.id.name, start, kind: 'value', isExported }
        break
      case 'VariableDeclaration':
        for (const { id } of declaration.declarations) {
          if (id.type === 'Identifier') yield { name: id.name, start, kind: 'value', isExported }
        }
        break
      default:
    }
  }
}

/**
 * Checks the names of all files that may be read together. Within `src` any file may import any name, so names are
 * compared there.
 */
export function* checkNames(files: Iterable<File>): Generator<Finding> {
  const homes = new Map<string, string>()
  for (const file of files) {
    const { path, lineOf } = file
    for (const { name, start, kind, isExported } of declarationsOf(file)) {
      const at = { path, line: lineOf(start) }
      if (kind === 'type' && isParticiple(name)) {
        yield { ...at, rule: 'participle', message: `${name}: say what of` }
      }
      if (!isExported || !path.startsWith('src/') || /(?:\.test|-contract)\.ts$/.test(path)) continue
      const home = homes.get(name)
      if (home !== undefined && home !== path) {
        yield { ...at, rule: 'name-twice', message: `${name} is exported by ${home}, too` }
      }
      homes.set(name, path)
    }
  }
}
