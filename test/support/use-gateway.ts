/** A gateway for all tests of a file or a `describe`. It starts before the first test and closes after the last. */
import { afterAll, beforeAll } from 'bun:test'
import {
  startGateway,
  startSandboxProcess,
  type GatewayOptions,
  type TestGateway,
  type TestSandbox,
} from './gateway.ts'

/** Stands for what exists once the tests run. */
const later = <T extends object>(get: () => T | undefined): T =>
  new Proxy({} as T, {
    get(_, name) {
      const it = get()
      if (!it) throw new Error('it is used before beforeAll')
      return Reflect.get(it, name)
    },
  })

type OptionsOf = () => GatewayOptions | Promise<GatewayOptions>

/** `options` may start the vendors that they name. `stopVendors` runs once the gateway is closed. */
export function useGateway(
  options: GatewayOptions | OptionsOf = {},
  stopVendors: () => unknown = () => undefined,
): TestGateway {
  let gateway: TestGateway | undefined
  beforeAll(async () => {
    gateway = await startGateway(typeof options === 'function' ? await options() : options)
  })
  afterAll(async () => {
    await gateway?.close()
    await stopVendors()
  })
  return later(() => gateway)
}

/** The same with a sandbox as the vendor, in a process of its own that outlives the gateway. */
export function useSandbox(options: (sandbox: TestSandbox) => GatewayOptions): {
  readonly gateway: TestGateway
  readonly sandbox: TestSandbox
} {
  let [gateway, sandbox]: [TestGateway?, TestSandbox?] = []
  beforeAll(async () => {
    sandbox = await startSandboxProcess()
    gateway = await startGateway(options(sandbox))
  })
  afterAll(async () => {
    await gateway?.close()
    await sandbox?.stop()
  })
  return { gateway: later(() => gateway), sandbox: later(() => sandbox) }
}
