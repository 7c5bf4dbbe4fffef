/** How a wish for reasoning is sent to Claude, in the two formats that its vendors have for it. */
import type { Turn } from '../domain/turn.ts'
import { budgetOf, levelOf, type ClaudeFamily } from './claude-families.ts'

export type ThinkingConfig = { readonly type: string; readonly [field: string]: unknown }

export type ClaudeThinking = {
  /** The field `thinking`. */
  readonly config?: ThinkingConfig
  /** The level in `output_config`. */
  readonly level?: string | undefined
  /** The wish cannot be fulfilled as it is. */
  readonly isDropped?: true
}

export type ThinkingRule = {
  readonly family: ClaudeFamily
  readonly outputTokensMax: number
  /** Whether a tool's result answers a message whose thinking is lost. */
  readonly lostThought: boolean
  readonly isForced: boolean
}

export function claudeThinking(
  { effort, thinkingTokens, showReasoning }: Pick<Turn, 'effort' | 'thinkingTokens' | 'showReasoning'>,
  { family, outputTokensMax, lostThought, isForced }: ThinkingRule,
): ClaudeThinking {
  if (effort === 'none' || thinkingTokens === 0) {
    if (family.off !== 'least') return { config: { type: family.off } }
    return { level: family.efforts[0], isDropped: true }
  }
  const asked = thinkingTokens ?? effort
  if (asked === undefined) return {}
  // A forced tool leaves no room for thinking, and a turn whose thinking is lost cannot be continued with it.
  if (isForced || (family.thinking === 'budget' && lostThought)) return { isDropped: true }
  const level = effort === undefined ? undefined : levelOf(effort, family)
  // Without a budget a model may begin to think in the middle of a turn.
  const byBudget = family.thinking === 'budget' || (thinkingTokens !== undefined && family.budget && !lostThought)
  const display = showReasoning === false ? 'omitted' : 'summarized'
  if (!byBudget) return { config: { type: 'adaptive', display }, level }
  const budget = budgetOf(asked, outputTokensMax)
  if (budget === undefined) return { level, isDropped: true }
  return { config: { type: 'enabled', budget_tokens: budget }, level }
}

export const isThinking = ({ config }: ClaudeThinking): boolean => config !== undefined && config.type !== 'disabled'
