/** One input: a text, or a text as token numbers of the vendor's own tokenizer. */
export type EmbeddingInput = string | readonly number[]

/** Inputs as one text, to be counted. A token number stands for a token: a word of one letter does as well. */
export const countable = (inputs: readonly EmbeddingInput[]): string =>
  inputs.map((input) => (typeof input === 'string' ? input : 'a '.repeat(input.length))).join('\n')

export type EmbeddingBody = {
  /** The words in which the answer is written: OpenAI's, or Google's for one content or for a batch. */
  readonly client: EmbeddingWords
  readonly model: string
  readonly inputs: readonly EmbeddingInput[]
  readonly encoding: 'float' | 'base64'
  readonly dimensions: number | undefined
  /** Fields of the client's that are passed on as they are, to vendors of its own dialect. */
  readonly others: Readonly<Record<string, unknown>>
  /** Fields of each input in Google's dialect: what it is for, a title. */
  readonly ofInputs?: readonly Readonly<Record<string, unknown>>[]
  /** Fields that no vendor is told. */
  readonly foreign?: readonly string[]
}

export type EmbeddingWords = 'openai' | 'gemini' | 'gemini_batch'
