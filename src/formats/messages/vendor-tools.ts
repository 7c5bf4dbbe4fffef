/** Tools of this dialect that run at the vendor. */
import type { Failure } from '../../domain/failure.ts'
import { asFields, asList, asText, type Fields } from '../core/fields.ts'
import type { ToolSplit } from '../core/vendor-tools.ts'

/** Billed by the call, the hour, or another model's tokens (2026-11). */
const VENDOR_TOOL = /^(?:web_search|web_fetch|code_execution|bash_code_execution|advisor|mcp_toolset)/

export const isServerTool = ({ type }: Fields): boolean => VENDOR_TOOL.test(asText(type))

export const splitMessagesTools = (tools: readonly Fields[]): ToolSplit => ({
  own: tools.filter((tool) => !isServerTool(tool)),
  vendors: tools.filter(isServerTool).map(({ type }) => asText(type)),
})

/** Refuses a body that needs such a tool. None of its types are known yet. */
export function refuseMessagesTools(body: Fields): Failure | undefined {
  const tools = asList(body['tools']).map(asFields)
  const { name } = asFields(body['tool_choice'])
  const isNeeded = (tool: Fields): boolean => isServerTool(tool) && (tools.every(isServerTool) || tool['name'] === name)
  const at = tools.findIndex(isNeeded)
  if (at < 0) return undefined
  const message = `'${asText(tools[at]?.['type']).slice(0, 100)}' has no price here: it runs at the vendor.`
  return { kind: 'unsupported_parameter', message, param: `tools[${at}].type` }
}
