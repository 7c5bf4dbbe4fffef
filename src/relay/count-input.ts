import type { Model } from '../domain/catalog.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import type { Relay } from './context.ts'

/** What a chat template adds to each message, by the vendors' own cookbooks. */
const MESSAGE_TOKENS = 4

/** What the input counts beside its words. Of a model that is not named, images count as nothing. */
export const tokensBesideText = ({ imageParts, messages }: ClientRequest, model: Model | undefined): number =>
  messages * MESSAGE_TOKENS + imageParts * (model?.limits.imageTokensMax ?? 0)

type CountTarget = { readonly accountId: string; readonly model: Model | undefined }

/** Estimates a request's input by our own tokenizer, of a long one by samples. */
export const countInput = async (
  { tokens }: Relay,
  request: ClientRequest,
  { accountId, model }: CountTarget,
): Promise<number> => (await tokens.guess(request.promptText(), accountId)) + tokensBesideText(request, model)
