/** Sets and removes the capabilities and limits of a model. */
import { command } from './command.ts'
import { count, countOrNone, statedLimits, NONE } from './limits.ts'
import { operate, shown, usage } from './outcome.ts'
import { details } from './table.ts'
import { text, type ValueRule } from './values.ts'

/** Part of the value of `model.change`. */
type ModelLimitsChange = {
  readonly id: string
  readonly limits: {
    readonly context_tokens: number | null
    readonly output_tokens_max: number | null
    readonly output_tokens_default: number | null
    readonly output_tokens_min: number
    readonly hidden_reasoning: boolean
    readonly image_tokens_max: number
    readonly first_event_timeout_ms: number
    readonly dimensions: number | null
    readonly dimensions_adjustable: boolean
    readonly picture_input: 'taken' | 'refused'
  }
}

const yesNoOrNone: ValueRule = {
  placeholder: 'yes|no',
  problem: (given) => (['yes', 'no', NONE].includes(given) ? undefined : `must be yes, no or ${NONE}`),
}
const answer = (given: string | undefined): boolean | null | undefined =>
  given === undefined ? undefined : given === NONE ? null : given === 'yes'

export const modelLimits = command({
  name: 'model limits',
  summary: 'Sets the capabilities and limits of a stored model. What is not named stays as it is.',
  examples: [
    ['tollgate model limits fast --context 128000 --max-output 16384'],
    ['tollgate model limits fast --max-output none', 'removes it: there is no limit, or the usual one'],
  ],
  positionals: [{ name: 'id', summary: 'id of a model', value: text('MODEL') }],
  options: {
    context: { summary: 'maximum tokens of input and output together', value: countOrNone },
    'max-output': { summary: 'maximum output tokens of one answer', value: countOrNone },
    'default-output': {
      summary: 'output limit of requests that set none (default: no limit)',
      value: countOrNone,
    },
    'min-output': {
      summary: 'a request that sets no limit is refused if the balance covers less output than this',
      value: countOrNone,
    },
    'image-tokens': { summary: 'maximum tokens that an image in a request counts as', value: countOrNone },
    'first-event-timeout': {
      summary: 'milliseconds to wait for the first token (default: 60000, or 300000 if it reasons)',
      value: countOrNone,
    },
    dimensions: { summary: 'length of the vectors of an embedding model', value: countOrNone },
    'adjustable-dimensions': { summary: 'whether requests may ask for shorter vectors', value: yesNoOrNone },
    pictures: { summary: 'whether a text model takes pictures as input', value: yesNoOrNone },
    'hidden-reasoning': { summary: 'whether it bills reasoning that it does not send', value: yesNoOrNone },
  },
  run: async ({ args: { id }, options, program, terminal }) => {
    const stated = statedLimits({
      context_tokens: count(options.context),
      output_tokens_max: count(options['max-output']),
      output_tokens_default: count(options['default-output']),
      output_tokens_min: count(options['min-output']),
      image_tokens_max: count(options['image-tokens']),
      first_event_timeout_ms: count(options['first-event-timeout']),
      dimensions: count(options.dimensions),
      dimensions_adjustable: answer(options['adjustable-dimensions']),
      pictures: answer(options.pictures),
      hidden_reasoning: answer(options['hidden-reasoning']),
    })
    if (Object.keys(stated).length === 0)
      return usage('model limits: name a limit, such as --max-output 16384 or --max-output none')
    return operate<ModelLimitsChange>(program, { name: 'model.change', input: { id, ...stated } }, (view) => {
      const { limits } = view
      const rows = [
        ['id', view.id],
        ['context', limits.context_tokens ?? NONE],
        ['max output', limits.output_tokens_max ?? NONE],
        ['default output', limits.output_tokens_default ?? NONE],
        ['min output', limits.output_tokens_min],
        ['image tokens', limits.image_tokens_max],
        ['first event timeout', `${limits.first_event_timeout_ms} ms`],
        ['dimensions', limits.dimensions ?? NONE],
        ['adjustable', limits.dimensions_adjustable ? 'yes' : 'no'],
        ['pictures', limits.picture_input],
        ['hidden reasoning', limits.hidden_reasoning ? 'yes' : 'no'],
      ] as const
      return shown(view, details(rows, terminal))
    })
  },
})
