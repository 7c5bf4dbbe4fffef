import type { Model } from '../domain/catalog.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { tokensBesideText } from '../modalities/token-meter.ts'
import type { Relay } from './context.ts'

type CountTarget = { readonly accountId: string; readonly model: Model | undefined }

/** Estimates a request's input by our own tokenizer. A long input is counted by samples. */
export const countInput = async (
  { tokens }: Relay,
  request: ClientRequest,
  { accountId, model }: CountTarget,
): Promise<number> => (await tokens.guess(request.promptText(), accountId)) + tokensBesideText(request, model)
