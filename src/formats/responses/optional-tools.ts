/**
 * Tools that coding agents put into every request, needed or not (Codex 0.166, 2026-11). A model can do without; that
 * it has to is told with the answer. Others are there because the client relies on them: those are refused.
 */
const optionalTools = new Set(['web_search', 'web_search_preview', 'namespace'])

export const isOptional = (toolType: string): boolean => optionalTools.has(toolType)
