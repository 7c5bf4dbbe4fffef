import type { Task } from './api-types.gen.ts'
import { ApiError } from './api.ts'
import { useRetell, useT } from './language.ts'

/** `original` is the message of the API, if `text` differs from it. Support asks for it. */
type ProblemText = { readonly text: string; readonly original?: string }

/** Describes a failure in the language of the page, if there is a text for it. */
export function useProblemText(): (error: unknown) => ProblemText {
  const t = useT()
  const retell = useRetell()
  return (error) => {
    if (!(error instanceof ApiError)) return { text: String(error) }
    const { code, param = '', message, said = {} } = error
    if (code === 'unreachable') return { text: t('unreachable') }
    const { reason, facts } = said
    // Failures of the public API have codes. Those of the console's API have reasons.
    const text =
      reason === undefined
        ? retell('gateway', { reason: code, facts: { param } })
        : retell('refusals', { reason, facts: { ...facts, param } })
    return text === undefined ? { text: message } : { text, original: message }
  }
}

/** The reason why a task failed. */
export function useTaskFailure(): (task: Pick<Task, 'error_code' | 'failure'>) => string {
  const retell = useRetell()
  return ({ error_code: code, failure }) =>
    retell(failure === null ? 'gateway' : 'videos', { reason: failure ?? code ?? undefined }) ?? code ?? ''
}
