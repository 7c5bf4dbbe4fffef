/** The folders of the agents' packages, one for each version. `npm run clients` installs them. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pins from './pins.json' with { type: 'json' }
import type { Program } from './programs.ts'

const FOLDER = process.env['TOLLGATE_CLIENTS'] ?? resolve(import.meta.dir, '../../.tmp/clients')

const versions: Readonly<Record<string, string>> = { ...pins.npm, ...pins.pypi }

export const versionOf = ({ package: name }: Program): string => versions[name] ?? ''

/** The folder of a program's pinned version, or why there is none. */
export function findInstalled(program: Program): { readonly folder: string } | { readonly reason: string } {
  const version = versionOf(program)
  const folder = folderOf(program.package)
  if (existsSync(join(folder, program.file))) return { folder }
  return { reason: `${program.package} ${version} is not installed (npm run clients)` }
}

const folderOf = (name: string): string => join(FOLDER, `${name.replaceAll(/\W+/g, '-')}-${versions[name] ?? ''}`)

/** The folder of a pinned npm package with its dependencies beside it. Undefined if it is not installed. */
export function findPackage(name: string): string | undefined {
  const folder = join(folderOf(name), 'node_modules', name)
  return existsSync(folder) ? folder : undefined
}
