import { listenSandbox, type Sandbox, type SandboxOptions, type SandboxVendor } from './listen.ts'

/** Listens at once, and loads the vendor (20 ms) at the first request. */
export function startOnDemand(options: SandboxOptions, onRequest: () => void): Sandbox {
  let loading: Promise<SandboxVendor> | undefined
  const load = async (): Promise<SandboxVendor> => (await import('./server.ts')).createVendor(options)
  const answer = async (request: Request): Promise<Response> => {
    onRequest()
    return (await (loading ??= load())).answer(request)
  }
  return listenSandbox({ answer, fault: ({ message }) => new Response(message, { status: 500 }) }, options)
}
