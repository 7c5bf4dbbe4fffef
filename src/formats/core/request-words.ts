/** What a dialect calls the parts of a request that a refusal names. */

export type RequestWords = { readonly input: string; readonly outputLimit: string }

/** The words of OpenAI's chat completions and of Anthropic's messages. */
export const usualWords: RequestWords = { input: 'messages', outputLimit: 'max_tokens' }
export const responsesWords: RequestWords = { input: 'input', outputLimit: 'max_output_tokens' }
export const googleWords: RequestWords = { input: 'contents', outputLimit: 'maxOutputTokens' }

export const wordsOf = ({ words = usualWords }: { readonly words?: RequestWords }): RequestWords => words
