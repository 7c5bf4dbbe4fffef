/** Whole replies that are requested as a stream, so that their hold can grow. Nothing leaves before the end. */
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
  /** `isCut`: it ended because no money was left. */
  | { readonly kind: 'whole'; readonly reply: AdaptedReply; readonly isCut: boolean }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }

const garbage = (message: string): CollectedReply => ({
  kind: 'failed',
  failure: { kind: 'garbage', status: 200, message },
})

/** Resolves to the reply, cut where the money ended. After a failure the next offer can be tried. */
export async function tryCollected(
  call: GatewayRequest,
  asked: ToCollect,
  facts: AnswerFacts,
): Promise<CollectedReply> {
  const { target, adapter, admission, destination, request, limits } = asked
  const { growing } = admission
  const collector = adapter.collector?.()
  if (!collector || !growing) throw new Error('only a reply with a growing hold is collected')
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
 * Pays for a reply that arrived in one piece after all, as far as there is money. The rest is written off. The next
 * request for this model does not use a stream.
 */
async function paidWhole(read: CollectedReply, growing: GrowingHold): Promise<CollectedReply> {
  if (read.kind === 'whole') await growing.coverWhole(read.reply)
  return read
}
