/** The gateway with three vendors, each of its own dialect. The sandbox plays all of them. */
import { afterAll, beforeAll } from 'bun:test'
import { startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'
import { openTill, PRICE, type Till } from './till.ts'

/** Models, named after the vendor behind each: it speaks chat, Messages, or Gemini's API. */
export const vendors = ['chatty', 'native', 'google'] as const

export type VendorsStage = Till & { readonly gateway: () => TestGateway }

export function setVendorsStage(): VendorsStage {
  let sandbox: TestSandbox
  let started: TestGateway | undefined
  beforeAll(async () => {
    sandbox = await startSandboxProcess()
    const at = (path: string): string => `base_url: '${new URL(sandbox.baseUrl).origin}${path}', allow_private: true`
    const models = vendors.map(
      (id) => `  ${id}: { price: ${PRICE}, offers: [{ provider: ${id}, model: sandbox-chat }] }`,
    )
    const yaml = [
      'sandbox: false',
      'providers:',
      `  chatty: { ${at('/v1')} }`,
      `  native: { preset: anthropic, ${at('/v1')}, key: k }`,
      `  google: { preset: gemini, ${at('/v1beta')}, key: k }`,
      'models:',
      ...models,
      '  small: { kind: embedding, price: { input: 1 }, dimensions: 1536, dimensions_adjustable: true, offers: [{ provider: chatty, model: sandbox-embedding-small }] }',
    ]
    started = await startGateway({ yaml: yaml.join('\n') })
  }, 30_000)
  afterAll(async () => {
    await started?.close()
    await sandbox.stop()
  }, 30_000)
  const gateway = (): TestGateway => {
    if (started) return started
    throw new Error('the gateway is not up yet')
  }
  return { gateway, ...openTill(gateway) }
}
