/** A page of another origin, such as a client of the API may serve to its users. */
export type ForeignSite = {
  readonly url: string
  /** What the page holds from now on. */
  show(body: string): void
  stop(): Promise<void>
}

export function startForeignSite(): ForeignSite {
  let html = ''
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      new URL(url).pathname === '/'
        ? new Response(html, { headers: { 'content-type': 'text/html' } })
        : new Response('', { status: 404 }),
  })
  return {
    url: server.url.href,
    show: (body) => void (html = `<!doctype html><title>elsewhere</title>${body}`),
    stop: () => server.stop(true),
  }
}
