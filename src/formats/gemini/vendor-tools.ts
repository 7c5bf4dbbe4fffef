/** Tools of this dialect that run at the vendor: all that are not the client's functions. */
import type { Failure } from '../../domain/failure.ts'
import { asFields, asList, type Fields } from '../core/fields.ts'
import type { ToolSplit } from '../core/vendor-tools.ts'
import { camelOf } from '../core/google-spelling.ts'

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false
const isFunctions = (name: string): boolean => camelOf(name) === 'functionDeclarations'

export function splitGeminiTools(tools: readonly Fields[]): ToolSplit {
  const own: Fields[] = []
  const vendors: string[] = []
  for (const tool of tools) {
    const set = Object.entries(tool).filter(([, value]) => isSet(value))
    const functions = set.filter(([name]) => isFunctions(name))
    if (functions.length > 0) own.push(Object.fromEntries(functions))
    vendors.push(...set.map(([name]) => camelOf(name)).filter((name) => !isFunctions(name)))
  }
  return { own, vendors }
}

/** Refuses a body that needs such a tool. None of its types are known yet. */
export function refuseGeminiTools(body: Fields): Failure | undefined {
  const tools = asList(body['tools']).map(asFields)
  const hasFunctions = tools.some((tool) => asList(tool['functionDeclarations']).length > 0)
  for (const [i, tool] of tools.entries()) {
    const [name] = splitGeminiTools([tool]).vendors
    if (name === undefined || hasFunctions) continue
    const message = `'${name.slice(0, 100)}' is not supported: its cost has no price here.`
    return { kind: 'unsupported_parameter', message, param: `tools[${i}].${name}` }
  }
  return undefined
}
