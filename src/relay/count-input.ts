import type { Model } from '../domain/catalog.ts'
import type { ClientRequest } from '../formats/format.ts'
import type { Relay } from './context.ts'

/** What a chat template adds to each message, by the vendors' own cookbooks. */
const MESSAGE_TOKENS = 4

/** What the input counts beside its words. Of a model that is not named, images count as nothing. */
export const tokensBesideText = ({ imageParts, messages }: ClientRequest, model: Model | undefined): number =>
  messages * MESSAGE_TOKENS + imageParts * (model?.limits.imageTokensMax ?? 0)

/** One after the other: a settlement that needs the tokenizer waits for one of them at most. */
let counting: Promise<unknown> = Promise.resolve()

/** Counts a request's input as an answer without reported usage would be charged: by our own tokenizer. */
export async function countInput({ tokens }: Relay, request: ClientRequest, model?: Model): Promise<number> {
  const count = counting.then(() => tokens.count([request.promptText()]))
  counting = count
  const [words = 0] = await count
  return words + tokensBesideText(request, model)
}
