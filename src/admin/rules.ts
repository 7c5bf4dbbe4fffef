/** The rules for values in inputs, and the messages for values that break them. */
import type { z } from 'zod'
import { reasonOf, speakerOf, type LocalizedMessage } from '../lib/primitives/localized-message.ts'

/** Rules of our own. A schema holds the sentence of a rule, and `reasonOf` finds the reason by the sentence. */
export const operationRules = {
  name_letters: 'must be 1 to 100 characters, without a slash, a control character or a mark of direction',
  name_unseen: 'must have no invisible characters',
  amount: 'must be above zero and below a billion dollars, such as 25.00',
  opening_balance: 'must be dollars, such as 25.00, or 0',
  dollars: 'must be dollars, such as 5.00',
  dollars_per_million: 'must be dollars per million tokens, such as 0.15',
  dollars_per_piece: 'must be dollars for one piece, such as 0.04, and at most 9000',
  tokens_above: 'must be a number of input tokens, such as 200000',
  piece: 'must be the name of a piece, such as image/1024x1024',
  percentage: 'must be a percentage, such as 20% or 12.5%',
  factor: 'must be above 0 and at most 100, with at most six decimals, such as 0.9',
  nano_usd: 'must be an integer of nano-USD as text, such as "25000000000" for $25',
  nano_usd_max: 'must be at most 9223372036854775807',
  model_id: 'must be 1 to 200 letters, digits or . : / @ - _',
  prefix: 'must be letters, digits or . : @ - _ with a slash at the end, such as openai/',
  provider_id: 'must be lower-case letters, digits, - or _',
  year: 'must be from 1970 to 9998',
  month: 'must be a month, such as 2026-11',
  time_zone: 'must be a time zone, such as Europe/Berlin or UTC',
  absolute_path: 'must be an absolute path',
  secret_in_address:
    'must not be a key, a link or a code: addresses are kept in logs. Look it up with POST /admin/v1/secrets/lookup',
  null_refused: 'must have a value: null means nothing here',
} as const

/** The rules of the schema library. */
export const shapes = {
  missing: 'is needed',
  wrong_type: 'must be of the type {expected}',
  too_short: 'must have at least {min} characters',
  too_long: 'must have at most {max} characters',
  too_small: 'must be at least {min}',
  too_large: 'must be at most {max}',
  too_few: 'must have at least {min} entries',
  too_many: 'must have at most {max} entries',
  bad_time: 'must be a time, such as 2026-01-31T12:00:00Z',
  not_one_of: 'must be one of {values}',
  unknown_field: 'unknown field: {names}',
  invalid: 'is not valid: {why}',
} as const

const say = speakerOf({ ...operationRules, ...shapes })

/** Replaces a schema's own message if null is refused. */
export const wordsForNull = ({ input }: { readonly input?: unknown }): string | undefined =>
  input === null ? operationRules.null_refused : undefined

type Issue = z.core.$ZodIssue
export type RuleViolation = LocalizedMessage & { readonly param: string | undefined }

/** The first violation in an input, and its path. */
export function misfitIn({ issues: [issue] }: z.ZodError): RuleViolation {
  const param = issue && issue.path.length > 0 ? issue.path.join('.') : undefined
  const said = issue ? saidOf(issue) : say('invalid', { why: 'invalid input' })
  return { ...said, message: param === undefined ? said.message : `${param}: ${said.message}`, param }
}

function saidOf(issue: Issue): LocalizedMessage {
  const rule = reasonOf(operationRules, issue.message) as keyof typeof operationRules | undefined
  if (rule !== undefined) return say(rule)
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('undefined') ? say('missing') : say('wrong_type', { expected: issue.expected })
    case 'too_small':
      return say(tooLittle[issue.origin] ?? 'too_small', { min: Number(issue.minimum) })
    case 'too_big':
      return say(tooMuch[issue.origin] ?? 'too_large', { max: Number(issue.maximum) })
    case 'invalid_key':
      return issue.issues[0] ? saidOf(issue.issues[0]) : say('invalid', { why: issue.message })
    case 'invalid_value':
      return say('not_one_of', { values: issue.values.join(', ') })
    case 'unrecognized_keys':
      return say('unknown_field', { names: issue.keys.join(', ') })
    case 'invalid_format':
      return issue.format === 'datetime' ? say('bad_time') : say('invalid', { why: issue.message })
    default:
      return say('invalid', { why: issue.message })
  }
}

const tooLittle: Readonly<Record<string, 'too_short' | 'too_few'>> = { string: 'too_short', array: 'too_few' }
const tooMuch: Readonly<Record<string, 'too_long' | 'too_many'>> = { string: 'too_long', array: 'too_many' }
