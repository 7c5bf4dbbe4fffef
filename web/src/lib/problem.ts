import type { Task } from './api-types.gen.ts'
import { ApiError } from './api.ts'
import { useRetell, useT } from './language.ts'

/** `original`: what the API said itself, where `text` is something else. Support asks for it. */
type ProblemText = { readonly text: string; readonly original?: string }

/** What went wrong in the language of the page, as far as there are words for it there. */
export function useProblemText(): (error: unknown) => ProblemText {
  const t = useT()
  const retell = useRetell()
  return (error) => {
    if (!(error instanceof ApiError)) return { text: String(error) }
    const { code, param = '', message, said = {} } = error
    if (code === 'unreachable') return { text: t('unreachable') }
    const { reason, facts } = said
    // The API of the gateway has codes for what went wrong, that of the console reasons.
    const text =
      reason === undefined
        ? retell('gateway', { reason: code, facts: { param } })
        : retell('refusals', { reason, facts: { ...facts, param } })
    return text === undefined ? { text: message } : { text, original: message }
  }
}

/** Why a task failed. */
export function useTaskFailure(): (task: Pick<Task, 'error_code' | 'failure'>) => string {
  const retell = useRetell()
  return ({ error_code: code, failure }) =>
    retell(failure === null ? 'gateway' : 'videos', { reason: failure ?? code ?? undefined }) ?? code ?? ''
}
