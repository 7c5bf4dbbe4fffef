/** Whole replies that are asked for as a stream, so that their hold can grow. Nothing leaves before the end. */
import type { UpstreamFailure } from '../domain/failure.ts'
import type { AnswerFacts, Destination, AdaptedReply, Adapter, UpstreamRequest } from '../formats/core/contract.ts'
import { attemptStream, type AttemptLimits, type Target } from '../upstream/attempt.ts'
import type { Admission } from './admit.ts'
import type { GatewayRequest } from './call.ts'
import { capOfSpent, type GrowingHold } from './growing-hold.ts'
import { BoundedEvents } from './stream-bounds.ts'

type ToCollect = {
  readonly target: Target
  readonly adapter: Adapter
  readonly admission: Admission
  readonly destination: Destination
  readonly request: UpstreamRequest
  readonly limits: AttemptLimits
}
type CollectedReply =
  /** `isCut`: it was ended for want of money. */
  | { readonly kind: 'whole'; readonly reply: AdaptedReply; readonly isCut: boolean }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }

const garbage = (message: string): CollectedReply => ({
  kind: 'failed',
  failure: { kind: 'garbage', status: 200, message },
})

/** Resolves to the reply, cut at its length where the money ended. A failure leaves the next offer free. */
export async function tryCollected(
  call: GatewayRequest,
  asked: ToCollect,
  facts: AnswerFacts,
): Promise<CollectedReply> {
  const { target, adapter, admission, destination, request, limits } = asked
  const { growing } = admission
  const collector = adapter.collector?.()
  if (!collector || !growing) throw new Error('a reply is collected where its hold grows')
  const opened = await attemptStream(target, request, { ...limits, takesWhole: true })
  if (opened.kind === 'failed') return opened
  if (opened.kind === 'reply') return paidWhole(await readWhole(opened.text, asked), growing)
  const stream = adapter.openStream(facts, destination.quirks)
  const events = new BoundedEvents(opened.events, stream, { admission, limits })
  let chars = 0
  try {
    for (;;) {
      const next = await events.next()
      if (next.kind !== 'events' && stream.finished) return await readWhole(collector.text(), asked)
      if (next.kind === 'broken') return { kind: 'failed', failure: next.failure }
      if (next.kind === 'end') return garbage('the stream closed in the middle')
      for (const event of next.events) {
        const read = stream.read(event)
        const isOver = read.kind === 'done' || (read.kind === 'failed' && stream.finished && !read.failure.isExcess)
        if (isOver) return await readWhole(collector.text(), asked)
        if (read.kind === 'failed') return read
        chars += event.data.length
        if (chars > limits.replyBytesMax) return garbage('the reply is too large')
        if ((await growing.cover(stream)) === 'spent') {
          call.life.cutAt(capOfSpent(admission))
          collector.cutAtLength?.()
          const cut = await readWhole(collector.text(), asked)
          return cut.kind === 'whole' ? { ...cut, isCut: true } : cut
        }
        collector.add(event)
      }
    }
  } finally {
    events.close()
  }
}

async function readWhole(text: string, { adapter, destination }: ToCollect): Promise<CollectedReply> {
  const read = await adapter.readReply(text, destination.quirks)
  if (read.kind === 'failed') return read
  return { kind: 'whole', reply: read.reply, isCut: false }
}

/**
 * A reply that came in one piece after all is paid for as far as there is money; the rest is written off. The next one
 * of this model is not asked for like this.
 */
async function paidWhole(read: CollectedReply, growing: GrowingHold): Promise<CollectedReply> {
  if (read.kind === 'whole') await growing.coverWhole(read.reply)
  return read
}
