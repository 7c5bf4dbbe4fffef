/** `:embedContent` and `:batchEmbedContents`: the vectors of `/v1/embeddings` in Google's format. */
import { z } from 'zod'
import { safeParse } from '../../src/lib/json/safe-parse.ts'
import { complain } from '../complaint.ts'
import { embed } from '../embeddings/vector.ts'
import { findModel } from '../models.ts'
import type { SandboxReply } from '../reply.ts'
import type { SandboxCall } from '../route.ts'
import { turn } from '../sleeper.ts'
import { countTokens } from '../tokens.ts'
import { fieldsInCamelCase } from './request.ts'
import { refuseAsGemini } from './voice.ts'

/** Google's bound (2026-11). */
const REQUESTS_MAX = 100

const one = z.strictObject({
  model: z.string().optional(),
  content: z.strictObject({
    role: z.string().optional(),
    parts: z.array(z.strictObject({ text: z.string() })).min(1),
  }),
  taskType: z.string().optional(),
  title: z.string().optional(),
  outputDimensionality: z.int().min(1).optional(),
})
const batch = z.strictObject({ requests: z.array(one).min(1).max(REQUESTS_MAX) })

export async function embedContents(
  { body, faults }: SandboxCall,
  { id, action }: { id: string; action: 'embedContent' | 'batchEmbedContents' },
): Promise<SandboxReply> {
  const most = findModel(id)?.dimensions
  if (most === undefined) {
    const message = `models/${id} is not found for API version v1beta, or is not supported for ${action}.`
    return refuseAsGemini(404, { message, code: null })
  }
  const fields = fieldsInCamelCase(body)
  const parsed = safeParse(batch, action === 'embedContent' ? { requests: [fields] } : fields, { reportInput: true })
  if (!parsed.success) return refuseAsGemini(400, complain(parsed.error))
  const embeddings: object[] = []
  let tokens = 0
  for (const { content, outputDimensionality: dimensions = most, model } of parsed.data.requests) {
    if (dimensions > most || (model !== undefined && model !== `models/${id}`)) {
      return refuseAsGemini(400, { message: `Request does not fit the model models/${id}.`, code: 'invalid_value' })
    }
    const text = content.parts.map((part) => part.text).join('\n')
    if (text === '') return refuseAsGemini(400, { message: 'content is empty.', code: 'invalid_value' })
    tokens += countTokens(text)
    embeddings.push({ values: embed(text, dimensions) })
    await turn()
  }
  const usage = faults.noUsage ? {} : { usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens } }
  const answer = action === 'embedContent' ? { embedding: embeddings[0] } : { embeddings }
  return { kind: 'json', status: 200, body: { ...answer, ...usage } }
}
