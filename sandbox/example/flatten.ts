import type { Budget } from '../budget.ts'
import { decodeLoosely } from '../uri.ts'
import type { AnySchema, Schema } from './schema.ts'

/** Recursive schemas are followed to this depth. Then the shortest end is taken: null, no items, no extras. */
const DEPTH_COMFORTABLE = 4
/** A schema without an end, such as one that requires itself, has no valid value. */
const DEPTH_MAX = 32

/** The cost of reading a schema. */
const NODE_STEPS = 4

/** Every read schema spends from `nodes`, because definitions that name each other twice double with each step. */
export type SchemaScope = { root: Schema; depth: number; nodes: { left: number }; budget: Budget }
export type FlatSchema = { schema: Schema; depth: number }

export function isDeep(depth: number): boolean {
  return depth > DEPTH_COMFORTABLE
}

/** Follows `$ref` and folds `allOf`, `anyOf` and `oneOf` into one schema whose values satisfy the original. */
export function flatten(given: AnySchema, scope: SchemaScope): FlatSchema {
  scope.nodes.left -= 1
  scope.budget.spendSteps(NODE_STEPS)
  const isExhausted = scope.depth > DEPTH_MAX || scope.nodes.left < 0 || scope.budget.isSpent
  if (typeof given === 'boolean' || isExhausted) return { schema: {}, depth: scope.depth }
  const { $ref, allOf = [], anyOf, oneOf, ...own } = given
  const depth = scope.depth + ($ref === undefined ? 0 : 1)
  const parts = [...allOf]
  if ($ref !== undefined) parts.push(resolve($ref, scope))
  if (anyOf !== undefined) parts.push(choose(anyOf, { ...scope, depth }))
  if (oneOf !== undefined) parts.push(choose(oneOf, { ...scope, depth }))
  const flat: FlatSchema = { schema: own, depth }
  for (const part of parts) {
    if (scope.budget.isSpent) break
    const inner = flatten(part, { ...scope, depth })
    flat.schema = combine(flat.schema, inner.schema, scope.budget)
    flat.depth = Math.max(flat.depth, inner.depth)
  }
  return flat
}

/** The first branch that is not null, or deep inside a recursion the branch that ends soonest. */
function choose(branches: readonly AnySchema[], { depth, budget }: SchemaScope): AnySchema {
  let [best, bestRank] = [branches[0] ?? {}, Infinity]
  for (const branch of branches) {
    budget.spendSteps(1)
    const itsRank = rank(branch, depth)
    if (itsRank < bestRank) [best, bestRank] = [branch, itsRank]
    if (itsRank === 0 || budget.isSpent) break
  }
  return best
}

function rank(branch: AnySchema, depth: number): number {
  if (branch === false) return 9
  if (branch === true) return 0
  if (!isDeep(depth)) return branch.type === 'null' ? 1 : 0
  if (branch.type === 'null' || branch.const !== undefined || branch.enum !== undefined) return 0
  const isNested = branch.$ref !== undefined || branch.properties !== undefined || branch.allOf !== undefined
  return isNested ? 2 : 1
}

function resolve(ref: string, { root, budget }: SchemaScope): AnySchema {
  if (ref === '#') return root
  budget.spendSteps(ref.length >> 4)
  let found: unknown = root
  for (const step of ref.replace(/^#\//, '').split('/')) {
    const name = decodeLoosely(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null) return {}
    found = Reflect.get(found, name)
  }
  return typeof found === 'object' && found !== null ? found : {}
}

/** Combines two schemas. A keyword of both that cannot be narrowed simply is taken from the second. */
function combine(one: Schema, other: Schema, budget: Budget): Schema {
  const given = Object.fromEntries(Object.entries(other).filter(([, value]) => value !== undefined))
  const both: Schema = { ...one, ...given }
  both.properties = combineProperties(one.properties, other.properties, budget)
  both.required = union(one.required, other.required, budget)
  both.enum = one.enum && other.enum ? common(one.enum, other.enum, budget) : both.enum
  both.minimum = larger(one.minimum, other.minimum)
  both.minLength = larger(one.minLength, other.minLength)
  both.minItems = larger(one.minItems, other.minItems)
  both.maximum = smaller(one.maximum, other.maximum)
  both.maxLength = smaller(one.maxLength, other.maxLength)
  both.maxItems = smaller(one.maxItems, other.maxItems)
  return both
}

function combineProperties(
  one: Schema['properties'],
  other: Schema['properties'],
  budget: Budget,
): Schema['properties'] {
  if (!one || !other) return one ?? other
  const both = { ...one }
  const entries = Object.entries(other)
  budget.spendSteps(Object.keys(one).length + entries.length)
  for (const [name, schema] of entries) {
    const known = both[name]
    both[name] = known === undefined ? schema : { allOf: [known, schema] }
  }
  return both
}

function union<T>(one: T[] | undefined, other: T[] | undefined, budget: Budget): T[] | undefined {
  if (!one || !other) return one ?? other
  budget.spendSteps(one.length + other.length)
  return [...new Set([...one, ...other])]
}

function common(one: readonly unknown[], other: readonly unknown[], budget: Budget): unknown[] {
  budget.spendSteps(one.length + other.length)
  const known = new Set(other)
  return one.filter((value) => known.has(value))
}

function larger(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other)
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}
