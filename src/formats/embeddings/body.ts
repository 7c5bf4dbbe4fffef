/** One input: a text, or a text as token numbers of the vendor's own tokenizer. */
export type EmbeddingInput = string | readonly number[]

/** Inputs as one text, to be counted. A token number stands for a token: a word of one letter does as well. */
export const countable = (inputs: readonly EmbeddingInput[]): string =>
  inputs.map((input) => (typeof input === 'string' ? input : 'a '.repeat(input.length))).join('\n')

export type EmbeddingBody = {
  readonly model: string
  readonly inputs: readonly EmbeddingInput[]
  readonly encoding: 'float' | 'base64'
  readonly dimensions: number | undefined
  /** Fields of the client's that are passed on as they are. */
  readonly others: Readonly<Record<string, unknown>>
}
