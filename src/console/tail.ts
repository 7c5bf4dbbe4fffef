/**
 * Requests of an account as server-sent events: first the newest ones, then each request as it ends. The events are
 * bounded in number and size. A slow client is told how many rows it missed. The stream ends when its reader loses the
 * rights that it began with.
 */
import type { ServerExchange } from '../inbound/exchange.ts'
import { dataEvent } from '../lib/http/sse.ts'
import { watchBounds, type RecordFeed, type Watcher } from '../records/feed.ts'
import type { RequestRecord } from '../records/records.ts'

const { rowsPerPushMax, pushMs, heartbeatMs, standingMs } = watchBounds
/** A comment that parsers skip. It keeps proxies from closing the connection. */
const PING = ': ping\n\n'

export type TailEnd = 'not_allowed' | 'shutdown'

export type TailOptions = {
  readonly feed: RecordFeed
  readonly account: string
  readonly fits: (record: RequestRecord) => boolean
  readonly view: (record: RequestRecord) => unknown
  /** Whether the reader still has the rights. */
  readonly stands: () => boolean
  /** Called once at the end, whatever the reason. */
  readonly onClosed: () => void
}

const newestFirst = (a: RequestRecord, b: RequestRecord): number => (a.id < b.id ? 1 : -1)

export class Tail implements Watcher {
  private readonly options: TailOptions
  private readonly leave: (() => void) | undefined
  private exchange: ServerExchange | undefined
  /** The newest rows that are still to be sent. `more` counts the rows that were dropped. */
  private waiting: RequestRecord[] = []
  private more = 0
  private isBehind = false
  private isClosed = false
  private sentMs = 0
  private timer: Timer | undefined
  private watch: Timer | undefined

  /** Watches from the start, so that no row is missed while the existing rows are looked up. */
  constructor(options: TailOptions) {
    this.options = options
    this.leave = options.feed.watch(options.account, this)
  }

  /** Begins the answer with the newest existing rows. */
  begin(
    exchange: ServerExchange,
    { headers, first }: { headers: Readonly<Record<string, string>>; first: object },
  ): void {
    this.exchange = exchange
    exchange.onClosed = () => this.close()
    exchange.begin(200, headers)
    this.send({ type: 'start', ...first })
    if (this.isClosed || this.leave === undefined) return this.finish('shutdown')
    this.watch = setInterval(() => this.look(), standingMs)
    if (this.waiting.length > 0) this.schedule()
  }

  take(record: RequestRecord): void {
    if (this.isClosed || !this.options.fits(record)) return
    this.waiting.push(record)
    if (this.waiting.length >= 2 * rowsPerPushMax) this.trim()
    this.schedule()
  }

  end(): void {
    this.finish('shutdown')
  }

  /** Ends the stream without an event, because the client has left or was never answered. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.leave?.()
    clearTimeout(this.timer)
    clearInterval(this.watch)
    this.waiting = []
    this.options.onClosed()
  }

  private trim(): void {
    this.waiting.sort(newestFirst)
    this.more += Math.max(0, this.waiting.length - rowsPerPushMax)
    this.waiting.length = Math.min(this.waiting.length, rowsPerPushMax)
  }

  private schedule(): void {
    if (this.timer !== undefined || this.isBehind || !this.exchange) return
    this.timer = setTimeout(() => this.push(), Math.max(0, this.sentMs + pushMs - performance.now()))
  }

  private push(): void {
    this.timer = undefined
    if (!this.options.stands()) return this.finish('not_allowed')
    this.trim()
    const data = this.waiting.map((record) => this.options.view(record))
    const { more } = this
    this.waiting = []
    this.more = 0
    this.send({ type: 'rows', data, more })
  }

  /** Called regularly: checks the rights and sends heartbeats. */
  private look(): void {
    if (!this.options.stands()) return this.finish('not_allowed')
    if (!this.isBehind && performance.now() - this.sentMs >= heartbeatMs) this.write(PING)
  }

  private finish(reason: TailEnd): void {
    const { exchange, isBehind } = this
    this.close()
    // A client that does not read cannot receive the end event.
    if (isBehind) exchange?.destroy()
    else exchange?.end(dataEvent(JSON.stringify({ type: 'end', reason })))
  }

  private send(event: object): void {
    this.write(dataEvent(JSON.stringify(event)))
  }

  /** Nothing is queued for a client that does not read. Its rows wait here, bounded, until the connection times out. */
  private write(text: string): void {
    this.sentMs = performance.now()
    if (!this.exchange || this.exchange.send(text)) return
    this.isBehind = true
    void this.exchange.flushed().then(() => {
      this.isBehind = false
      if (!this.isClosed && this.waiting.length > 0) this.schedule()
    })
  }
}
