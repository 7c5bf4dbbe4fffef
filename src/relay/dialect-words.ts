/** What the dialects call what a refusal speaks of. */
type Words = { readonly said: string; readonly outputLimit: string }

const usual: Words = { said: 'messages', outputLimit: 'max_tokens' }
const byEndpoint: Readonly<Record<string, Words>> = {
  responses: { said: 'input', outputLimit: 'max_output_tokens' },
  gemini: { said: 'contents', outputLimit: 'maxOutputTokens' },
}

export const wordsOf = (endpoint: string | undefined): Words => byEndpoint[endpoint ?? ''] ?? usual
