import type { Model } from '../domain/catalog.ts'
import type { ClientRequest } from '../formats/format.ts'
import type { Relay } from './context.ts'

/** What a chat template adds to each message, by the vendors' own cookbooks. */
const MESSAGE_TOKENS = 4

/** What the input counts beside its words. */
export const tokensBesideText = ({ imageParts, messages }: ClientRequest, { limits }: Model): number =>
  messages * MESSAGE_TOKENS + imageParts * limits.imageTokensMax

/** Counts a request's input as an estimate would be charged: by our own tokenizer, whatever the model's is. */
export async function countInput({ tokens }: Relay, request: ClientRequest, model: Model): Promise<number> {
  const [words = 0] = await tokens.count([request.promptText()])
  return words + tokensBesideText(request, model)
}
