/** Tells which items are calls and which are results. */
import type { Fields } from '../core/fields.ts'
import { isAgentCall, isAgentOutput } from './agent-tools.ts'

/** Whether a call was cut off, so that its arguments cannot be read. */
export const isBrokenCall = ({ type, status }: Fields): boolean => isCall(type) && status === 'incomplete'

export const isCall = (type: unknown): boolean =>
  type === 'function_call' || type === 'custom_tool_call' || isAgentCall(type)

export const isResult = (type: unknown): boolean =>
  type === 'function_call_output' || type === 'custom_tool_call_output' || isAgentOutput(type)
