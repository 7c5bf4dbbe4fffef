/** Sets and removes the capabilities and limits of a model. */
import { modelLimitEntries, sortedBy, type LimitValue } from '../domain/model-limits.ts'
import { command } from './command.ts'
import { count, countOrNone, statedLimits, NONE } from './limits.ts'
import { operate, shown, usage } from './outcome.ts'
import { details } from './table.ts'
import { text, type ValueRule } from './values.ts'

type ShownLimit = string | number | boolean | null

/** Part of the value of `model.change`. */
type ModelLimitsChange = { readonly id: string; readonly limits: Readonly<Record<string, ShownLimit>> }

/** The help lists the options in this order. An option that is not named comes last. */
const optionOrder = [
  'context',
  'max-output',
  'default-output',
  'min-output',
  'image-tokens',
  'first-event-timeout',
  'dimensions',
  'adjustable-dimensions',
  'pictures',
  'hidden-reasoning',
  'routing',
  'sticky',
]
const settable = sortedBy(
  modelLimitEntries.flatMap(([, { input, output, option, value }]) =>
    input === undefined || output === undefined || !option ? [] : [{ input, output, option, value }],
  ),
  optionOrder,
  ({ option }) => option.name,
)

const wordsOf = (value: LimitValue): readonly string[] => (typeof value === 'string' ? ['yes', 'no'] : value)

function ruleOf(value: LimitValue): ValueRule {
  if (value === 'count') return countOrNone
  const words = wordsOf(value)
  return {
    placeholder: words.join('|'),
    problem: (given) =>
      given === NONE || words.includes(given) ? undefined : `must be ${words.join(', ')} or ${NONE}`,
  }
}

function statedOf(value: LimitValue, given: string | undefined): ShownLimit | undefined {
  if (value === 'count') return count(given)
  if (given === undefined) return undefined
  if (given === NONE) return null
  return typeof value === 'string' ? given === 'yes' : given
}

function shownAs(limit: ShownLimit | undefined, unit: string | undefined): string | number {
  if (limit === null || limit === undefined) return NONE
  if (typeof limit === 'boolean') return limit ? 'yes' : 'no'
  return unit === undefined ? limit : `${limit} ${unit}`
}

export const modelLimits = command({
  name: 'model limits',
  summary: 'Sets the capabilities and limits of a stored model. What is not named stays as it is.',
  examples: [
    ['tollgate model limits fast --context 128000 --max-output 16384'],
    ['tollgate model limits fast --max-output none', 'removes it: there is no limit, or the usual one'],
  ],
  positionals: [{ name: 'id', summary: 'id of a model', value: text('MODEL') }],
  options: Object.fromEntries(
    settable.map(({ option: { name, summary }, value }) => [name, { summary, value: ruleOf(value) }]),
  ),
  run: async ({ args: { id }, options, program, terminal }) => {
    const stated = statedLimits(
      Object.fromEntries(settable.map(({ input, option, value }) => [input, statedOf(value, options[option.name])])),
    )
    if (Object.keys(stated).length === 0)
      return usage('model limits: name a limit, such as --max-output 16384 or --max-output none')
    return operate<ModelLimitsChange>(program, { name: 'model.change', input: { id, ...stated } }, (view) => {
      const rows = settable.map(
        ({ output, option: { name, title = name.replaceAll('-', ' '), unit } }) =>
          [title, shownAs(view.limits[output], unit)] as const,
      )
      return shown(view, details([['id', view.id], ...rows], terminal))
    })
  },
})
