/** What the dialects call what a refusal speaks of. */
type RefusalWords = { readonly said: string; readonly outputLimit: string }

const usual: RefusalWords = { said: 'messages', outputLimit: 'max_tokens' }
const byEndpoint: Readonly<Record<string, RefusalWords>> = {
  responses: { said: 'input', outputLimit: 'max_output_tokens' },
  gemini: { said: 'contents', outputLimit: 'maxOutputTokens' },
}

export const refusalWordsOf = (endpoint: string | undefined): RefusalWords => byEndpoint[endpoint ?? ''] ?? usual
