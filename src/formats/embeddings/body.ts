/** One input: a text, or a text as token numbers of the vendor's own tokenizer. */
export type EmbeddingInput = string | readonly number[]

/** The inputs as one text, for counting. A token number counts as one token, like a word of one letter. */
export const countable = (inputs: readonly EmbeddingInput[]): string =>
  inputs.map((input) => (typeof input === 'string' ? input : 'a '.repeat(input.length))).join('\n')

export type EmbeddingBody = {
  /** The form of the answer: OpenAI's, or Google's for one content or for a batch. */
  readonly client: EmbeddingWords
  readonly model: string
  readonly inputs: readonly EmbeddingInput[]
  readonly encoding: 'float' | 'base64'
  readonly dimensions: number | undefined
  /** Fields of the client that pass unchanged to vendors of its own dialect. */
  readonly others: Readonly<Record<string, unknown>>
  /** Fields of each input in Google's dialect: its purpose and title. */
  readonly ofInputs?: readonly Readonly<Record<string, unknown>>[]
  /** Fields that go to no vendor. */
  readonly foreign?: readonly string[]
}

export type EmbeddingWords = 'openai' | 'gemini' | 'gemini_batch'
