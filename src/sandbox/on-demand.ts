import { listen, type Sandbox, type SandboxOptions, type Vendor } from './listen.ts'

/** Listens at once, and loads the vendor (20 ms) at its first request. */
export function startOnDemand(options: SandboxOptions, onRequest: () => void): Sandbox {
  let loading: Promise<Vendor> | undefined
  const load = async (): Promise<Vendor> => (await import('./server.ts')).createVendor(options)
  const answer = async (request: Request): Promise<Response> => {
    onRequest()
    return (await (loading ??= load())).answer(request)
  }
  return listen({ answer, fault: ({ message }) => new Response(message, { status: 500 }) }, options)
}
