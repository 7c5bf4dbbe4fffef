/** A strict SOCKS 5 server (RFC 1928), with user and password (RFC 1929). It only knows CONNECT. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type SocksTarget = { readonly kind: 'ipv4' | 'ipv6' | 'name'; readonly host: string; readonly port: number }

export type SocksProxy = {
  readonly port: number
  readonly targets: readonly SocksTarget[]
  readonly faults: readonly string[]
  stop(): void
}

export type SocksBehaviour = {
  readonly secret?: string
  /** The code of a reply that refuses every request. */
  readonly refusal?: number
  /** Splits every answer into single bytes. */
  readonly slices?: boolean
  readonly place?: (target: SocksTarget) => { readonly host: string; readonly port: number }
}

export async function startSocksProxy(behaviour: SocksBehaviour = {}): Promise<SocksProxy> {
  const targets: SocksTarget[] = []
  const faults: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => undefined).on('close', () => sockets.delete(client))
    serve(client, behaviour, { targets, faults, sockets }).catch((error: unknown) => {
      faults.push((error as Error).message)
      client.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const stop = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { port, targets, faults, stop }
}

type Notes = { readonly targets: SocksTarget[]; readonly faults: string[]; readonly sockets: Set<Socket> }

async function serve(client: Socket, behaviour: SocksBehaviour, { targets, sockets }: Notes): Promise<void> {
  const { secret, refusal = 0, slices = false, place } = behaviour
  const read = readerOf(client)
  const say = async (...bytes: number[]): Promise<void> => {
    const pieces = slices ? bytes.map((byte) => [byte]) : [bytes]
    for (const piece of pieces) {
      client.write(Uint8Array.from(piece))
      if (slices) await Bun.sleep(1)
    }
  }
  const [version, methodCount = 0] = await read(2)
  const methods = [...(await read(methodCount))]
  if (version !== 5) throw new Error(`the version is ${version}`)
  const method = secret === undefined ? 0 : 2
  if (!methods.includes(method)) {
    await say(5, 0xff)
    return void client.end()
  }
  await say(5, method)
  if (method === 2) {
    const [authVersion, userLength = 0] = await read(2)
    const user = await read(userLength)
    const [passwordLength = 0] = await read(1)
    const given = `${user.toString()}:${(await read(passwordLength)).toString()}`
    if (authVersion !== 1) throw new Error(`the version of the authentication is ${authVersion}`)
    await say(1, given === secret ? 0 : 1)
    if (given !== secret) return void client.end()
  }
  const [requestVersion, command, reserved, kind] = await read(4)
  if (requestVersion !== 5 || command !== 1 || reserved !== 0) throw new Error('the request is malformed')
  const target = await readTarget(read, kind)
  targets.push(target)
  if (refusal !== 0) {
    await say(5, refusal, 0, 1, 0, 0, 0, 0, 0, 0)
    return void client.end()
  }
  const origin = connect(place?.(target) ?? target)
  sockets.add(origin)
  origin.on('error', () => client.destroy()).on('close', () => client.destroy())
  client.on('close', () => origin.destroy())
  await once(origin, 'connect')
  // A name as the bound address, which is rare and allowed.
  await say(5, 0, 0, 3, 2, 0x61, 0x62, 0, 1)
  read.end()
  client.pipe(origin)
  origin.pipe(client)
}

async function readTarget(read: Reader, kind: number | undefined): Promise<SocksTarget> {
  const portOf = async (): Promise<number> => (await read(2)).readUInt16BE()
  if (kind === 1) return { kind: 'ipv4', host: [...(await read(4))].join('.'), port: await portOf() }
  if (kind === 4) {
    const groups = (await read(16)).toString('hex').match(/.{4}/g) ?? []
    return { kind: 'ipv6', host: groups.join(':'), port: await portOf() }
  }
  if (kind !== 3) throw new Error(`the kind of address is ${kind}`)
  const [length = 0] = await read(1)
  return { kind: 'name', host: (await read(length)).toString(), port: await portOf() }
}

type Reader = ((count: number) => Promise<Buffer>) & { end(): void }

/** Reads so many bytes. `end` gives the socket back. */
function readerOf(socket: Socket): Reader {
  let arrived = Buffer.alloc(0)
  let wake = (): void => undefined
  const onData = (bytes: Buffer): void => {
    arrived = Buffer.concat([arrived, bytes])
    wake()
  }
  socket.on('data', onData)
  const read = async (count: number): Promise<Buffer> => {
    while (arrived.length < count) {
      if (socket.destroyed) throw new Error('the client left')
      await new Promise<void>((resolve) => {
        wake = resolve
        socket.once('close', resolve)
      })
    }
    const taken = arrived.subarray(0, count)
    arrived = arrived.subarray(count)
    return taken
  }
  return Object.assign(read, {
    end() {
      socket.pause()
      socket.off('data', onData)
      if (arrived.length > 0) socket.unshift(arrived)
    },
  })
}
