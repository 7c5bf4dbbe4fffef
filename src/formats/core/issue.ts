import type { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'

type Issue = z.core.$ZodIssue

/** Writes a path as clients write it: `messages[0].content`. */
function paramOf(path: readonly PropertyKey[]): string {
  let param = ''
  for (const step of path)
    param += typeof step === 'number' ? `[${step}]` : param === '' ? String(step) : `.${String(step)}`
  return param
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<PropertyKey, unknown> | undefined)?.[step], body)
}

/**
 * The most useful issue of a union. The deepest one wins, since "content[0].type" says more than "content". At equal
 * depth, one from a branch whose type fits wins, since "at most 4" says more than "none of the types".
 */
function mostTelling(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue
  const rank = ({ code, path }: Issue): number => path.length * 2 + (code === 'invalid_type' ? 0 : 1)
  let best: Issue = issue
  let bestRank = issue.path.length * 2
  for (const inner of issue.errors.flat()) {
    const found = mostTelling({ ...inner, path: [...issue.path, ...inner.path] })
    if (rank(found) <= bestRank) continue
    best = found
    bestRank = rank(found)
  }
  return best
}

/** Turns a schema issue into a failure that names the field, its rule, and whether it was missing. */
export function failureOfIssue(first: Issue | undefined, body: unknown): Failure {
  if (!first) return { kind: 'invalid_value', message: 'The request is not valid.' }
  const issue = mostTelling(first)
  const param = paramOf(issue.path)
  const value = valueAt(body, issue.path)
  const named = param === '' ? {} : { param }
  if (param === '') return { kind: 'invalid_type', message: 'The body must be a JSON object.' }
  if (value === undefined || (issue.code === 'custom' && issue.params?.['missing'] === true)) {
    const hinted = hints.find(({ missing, given }) => param === missing && valueAt(body, [given]) !== undefined)
    const hint = hinted ? ` (${hinted.says})` : ''
    return { kind: 'missing_parameter', message: `Missing required parameter: '${param}'${hint}.`, ...named }
  }
  const rule = `Invalid '${param}': ${ruleOf(issue)}`
  // If one of several words is expected, a number has the wrong type rather than the wrong value.
  const wrongWord = issue.code === 'invalid_value' && typeof value !== typeof issue.values[0]
  const wrongType = wrongWord || issue.code === 'invalid_type' || issue.code === 'invalid_union'
  return { kind: wrongType ? 'invalid_type' : 'invalid_value', message: rule, ...named }
}

/** Fields that clients of another endpoint or vendor send instead of the missing one. */
const hints = [
  {
    missing: 'messages',
    given: 'input',
    says: "'input' belongs to /v1/responses; chat completions take 'messages'",
  },
  {
    missing: 'content',
    given: 'prompt',
    says: 'a list of parts; a prompt is {"type": "text", "text": "…"} in it, and \'duration\' is in seconds',
  },
] as const

function ruleOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected === 'int' ? 'an integer' : article(issue.expected)}.`
    case 'invalid_union':
      return 'none of the accepted types fits.'
    case 'too_small':
      return `must be ${sized(issue.origin)}at least ${issue.minimum}.`
    case 'too_big':
      return `must be ${sized(issue.origin)}at most ${issue.maximum}.`
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => `'${String(value)}'`).join(', ')}.`
    default:
      return `${issue.message}.`
  }
}

const sized = (origin: string): string =>
  origin === 'string' ? 'a text of length ' : origin === 'array' ? 'a list of length ' : ''
const article = (noun: string): string => (/^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`)
