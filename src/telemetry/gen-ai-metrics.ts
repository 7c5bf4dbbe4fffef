/**
 * The metrics of the semantic conventions for generative AI (1.41.1, 2026-05-11, docs/gen-ai/gen-ai-metrics.md). Those
 * of a client are about attempts, those of a server about the requests of the gateway's own clients. A bucket's bound
 * is the one that the conventions ask for.
 */
import { inputTokens, outputTokens } from '../domain/usage.ts'
import type { FinishedRequest } from './finished-request.ts'
import { OtlpHistogram, type TimeRange } from './otlp-histogram.ts'

const CALL_S = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const FIRST_TOKEN_S = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]

const seconds = (name: string, description: string, bounds: readonly number[]): OtlpHistogram =>
  new OtlpHistogram({ name, description, unit: 's', bounds })

export class GenAiMetrics {
  private readonly duration = seconds('gen_ai.client.operation.duration', 'GenAI operation duration.', CALL_S)
  private readonly firstChunk = seconds(
    'gen_ai.client.operation.time_to_first_chunk',
    'Time to receive the first chunk of a streamed answer.',
    CALL_S,
  )
  private readonly tokens = new OtlpHistogram({
    name: 'gen_ai.client.token.usage',
    description: 'Number of input and output tokens used.',
    unit: '{token}',
    bounds: TOKENS,
  })
  private readonly requestDuration = seconds(
    'gen_ai.server.request.duration',
    'Generative AI server request duration such as time-to-last byte or last output token.',
    CALL_S,
  )
  private readonly firstToken = seconds(
    'gen_ai.server.time_to_first_token',
    'Time to generate first token for successful responses.',
    FIRST_TOKEN_S,
  )
  private readonly all = [this.duration, this.firstChunk, this.tokens, this.requestDuration, this.firstToken]

  recorded({ record, error, attempts }: FinishedRequest): void {
    for (const { target, tookMs, error: attemptError, served } of attempts) {
      this.duration.observe(target.withError(attemptError), tookMs / 1000)
      if (!served) continue
      if (served.firstEventMs !== undefined) this.firstChunk.observe(target.attributes, served.firstEventMs / 1000)
      if (record.usageSource === undefined) continue
      const [input, output] = [inputTokens(record.usage), outputTokens(record.usage)]
      if (input > 0) this.tokens.observe(target.inputTokens, input)
      if (output > 0) this.tokens.observe(target.outputTokens, output)
    }
    // The conventions want the provider. A request that no attempt was made for has none.
    const last = attempts.find(({ served }) => served) ?? attempts.at(-1)
    if (!last) return
    this.requestDuration.observe(last.target.servedAs(record.model, error), record.totalMs / 1000)
    if (error !== undefined || record.firstEventMs === undefined || !record.stream) return
    this.firstToken.observe(last.target.servedAs(record.model, undefined), record.firstEventMs / 1000)
  }

  /** The metrics that have values, as JSON. */
  texts(range: TimeRange): string[] {
    return this.all.flatMap((histogram) => histogram.text(range) ?? [])
  }
}
