/** An upstream that writes exact bytes, for tests of readers. */
import type { Socket, TCPSocketListener } from 'bun'

export type Caller = {
  readonly socket: Socket<Caller>
  /** Counted from 0 over the life of the upstream. */
  readonly index: number
  /** What it has sent so far, as bytes a character. */
  received: string
}

type Behaviour = {
  onOpen?(caller: Caller): void
  /** After each read. */
  onData?(caller: Caller): void | Promise<void>
  onDrain?(caller: Caller): void
  onClose?(caller: Caller): void
}

export type RawUpstream = {
  readonly origin: string
  readonly port: number
  readonly callers: readonly Caller[]
  stop(): void
}

type Tls = { readonly cert: string; readonly key: string }

export function startRawUpstream(behaviour: Behaviour, tls?: Tls): RawUpstream {
  const callers: Caller[] = []
  const listener: TCPSocketListener<Caller> = Bun.listen<Caller>({
    hostname: '127.0.0.1',
    port: 0,
    ...(tls ? { tls } : {}),
    socket: {
      open(socket) {
        const caller: Caller = { socket, index: callers.length, received: '' }
        socket.data = caller
        callers.push(caller)
        behaviour.onOpen?.(caller)
      },
      data(socket, bytes) {
        socket.data.received += bytes.toString('latin1')
        return behaviour.onData?.(socket.data)
      },
      drain: (socket) => behaviour.onDrain?.(socket.data),
      close: (socket) => behaviour.onClose?.(socket.data),
      error: () => undefined,
    },
  })
  const { port } = listener
  const origin = `${tls ? 'https://localhost' : 'http://127.0.0.1'}:${port}`
  return { origin, port, callers, stop: () => listener.stop(true) }
}

/** Whether a request has arrived in full. */
export function isComplete({ received }: Caller): boolean {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = Number(/content-length: (\d+)/.exec(received.slice(0, end))?.[1] ?? 0)
  return received.length >= end + 4 + length
}

/** Answers each complete request with what `answer` says, and makes ready for the next. */
export const answering = (answer: (caller: Caller) => string | Uint8Array): Behaviour => ({
  onData(caller) {
    if (!isComplete(caller)) return
    const bytes = answer(caller)
    caller.received = ''
    caller.socket.write(bytes)
  },
})
