import type { z } from 'zod'
import type { ErrorFields } from './reply.ts'

type Issue = z.core.$ZodIssue

/** Describes the first fault of a request in a vendor's words. It needs a parse with `reportInput`. */
export function complain(error: z.ZodError): ErrorFields {
  const issue = error.issues[0]
  return issue ? describe(issue, []) : { message: 'Your request is not valid.', code: 'invalid_value' }
}

function describe(issue: Issue, parents: readonly PropertyKey[]): ErrorFields {
  const path = [...parents, ...issue.path]
  const param = paramOf(path)
  if (issue.code === 'invalid_union') return describeUnion(issue, path)
  if (issue.input === undefined) return missing(param)
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(param, issue.expected, issue.input)
    case 'invalid_value':
      return notAmong(param, issue.values, issue.input)
    case 'too_small':
      return wrongValue(param, `Expected ${measureOf(issue.origin)} >= ${issue.minimum}.`)
    case 'too_big':
      return wrongValue(param, `Expected ${measureOf(issue.origin)} <= ${issue.maximum}.`)
    default:
      return wrongValue(param, `${issue.message}.`)
  }
}

/** If no branch has the discriminator, the fault says so. Otherwise the branch that got furthest gives the fault. */
function describeUnion(issue: z.core.$ZodIssueInvalidUnion, path: readonly PropertyKey[]): ErrorFields {
  if (issue.discriminator !== undefined && 'options' in issue) {
    const { input, discriminator } = issue
    const found: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, discriminator) : undefined
    return found === undefined ? missing(paramOf(path)) : notAmong(paramOf(path), issue.options ?? [], found)
  }
  const isMismatch = (first: Issue): boolean => first.code === 'invalid_type' && first.path.length === 0
  const firsts = issue.errors.flatMap(([first]) => (first === undefined ? [] : [first]))
  const telling = firsts.filter((first) => !isMismatch(first))
  const nearest = telling.find((first) => first.path.length > 0) ?? telling[0]
  if (nearest) return describe(nearest, path)
  const expected = firsts.map((first) => ('expected' in first ? String(first.expected) : first.code)).join(' or ')
  return issue.input === undefined ? missing(paramOf(path)) : wrongType(paramOf(path), expected, issue.input)
}

/** `messages[0].content` */
function paramOf(path: readonly PropertyKey[]): string | null {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  return text === '' ? null : text.replace(/^\./, '')
}

function missing(param: string | null): ErrorFields {
  const message = param === null ? 'The request has no JSON body.' : `Missing required parameter: '${param}'.`
  return { message, code: 'missing_required_parameter', param }
}

function wrongType(param: string | null, expected: string, input: unknown): ErrorFields {
  const subject = param === null ? 'the request body' : `'${param}'`
  const message = `Invalid type for ${subject}: expected ${expected}, but got ${typeName(input)} instead.`
  return { message, code: 'invalid_type', param }
}

/** The part of a wrong value that is quoted. */
const INPUT_CHARS_MAX = 200

function notAmong(param: string | null, values: readonly unknown[], input: unknown): ErrorFields {
  const supported = values.map((value) => `'${String(value)}'`).join(', ')
  const message = `Invalid value: ${JSON.stringify(input).slice(0, INPUT_CHARS_MAX)}. Supported values are: ${supported}.`
  return { message, code: 'invalid_value', param }
}

function wrongValue(param: string | null, reason: string): ErrorFields {
  return { message: `Invalid value for '${param}'. ${reason}`, code: 'invalid_value', param }
}

function measureOf(origin: string): string {
  return origin === 'array' || origin === 'string' ? 'a length' : 'a value'
}

function typeName(input: unknown): string {
  if (input === null) return 'null'
  return Array.isArray(input) ? 'array' : typeof input
}
