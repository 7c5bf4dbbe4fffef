/** Explains which offers a request would try now. */
import { formatUsd } from '../domain/money.ts'
import { policyNames } from '../domain/routing.ts'
import { command } from './command.ts'
import { operate, shown } from './outcome.ts'
import { table, type Column } from './table.ts'
import { oneOf, text, wholeNumber } from './values.ts'

type Step = {
  readonly provider: string
  readonly model: string
  readonly share_percent: number
  readonly score: number | null
  readonly first_event_ms: number | null
  readonly tokens_per_second: number | null
  readonly cost_nano_usd: string
  readonly reason: string
}
/** The value of `model.explain`. */
type PlanView = { readonly id: string; readonly policy: string; readonly steps: readonly Step[] }

const columns: readonly Column<Step>[] = [
  { title: 'offer', of: ({ provider, model }) => `${provider}/${model}` },
  { title: 'first', of: (step) => `${step.share_percent} %`, kind: 'count' },
  { title: 'score', of: ({ score }) => score, kind: 'count' },
  { title: 'event ms', of: (step) => step.first_event_ms, kind: 'count' },
  { title: 'tokens/s', of: (step) => step.tokens_per_second, kind: 'count' },
  { title: 'cost', of: (step) => formatUsd(BigInt(step.cost_nano_usd)), kind: 'money' },
  { title: 'reason', of: ({ reason }) => reason },
]

export const modelExplain = command({
  name: 'model explain',
  summary: 'Explains which offers a request for a model would try now, in which order and why.',
  examples: [
    ['tollgate model explain fast'],
    ['tollgate model explain fast --input-tokens 50000 --routing cost', 'a long request, under another policy'],
  ],
  positionals: [{ name: 'id', summary: 'id or alias of a model', value: text('MODEL') }],
  options: {
    'input-tokens': { summary: 'length of the request (default: 1000)', value: wholeNumber('N', { min: 0, max: 1e9 }) },
    whole: { summary: 'the answer is not streamed' },
    routing: { summary: 'a policy other than that of the model', value: oneOf(policyNames) },
  },
  run: async ({ args: { id }, options, program, terminal }) => {
    const tokens = options['input-tokens']
    const input = {
      id,
      ...(tokens && { input_tokens: Number(tokens) }),
      ...(options.whole && { stream: false }),
      ...(options.routing && { routing: options.routing }),
    }
    return operate<PlanView>(program, { name: 'model.explain', input }, (view) =>
      shown(view, table(view.steps, columns, terminal), {
        talk: view.id === id ? `Policy: ${view.policy}` : `${id} stands for ${view.id}. Policy: ${view.policy}`,
      }),
    )
  },
})
