/** The documents of the API: `/docs` for people, `/openapi.json` for programs, `/llms.txt` for language models. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import { themeScript } from './documents-theme.ts'
import { readGuides, type Guide } from './guides.ts'
import { documentedRoutes, publicOpenApi } from './openapi.ts'

/** tools/viewer.js builds this file, and the package contains it. No browser loads it from another server. */
const VIEWER = resolve(import.meta.dir, '../../dist/docs/viewer.js')

/**
 * The content security policy. The viewer writes inline styles. It loads only files of this server, and sends its test
 * requests only to this server.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const HEADERS: ReplyHeaders = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

type Document = { readonly type: string; readonly body: string | Uint8Array; readonly encoding?: 'gzip' }

/** The addresses are relative, so the page works under a path prefix. Without scripts it links to the documents. */
const page = (hasViewer: boolean, guides: readonly Guide[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate API</title>
<script defer src="docs/theme.js"></script>
${hasViewer ? '<script defer src="docs/viewer.js"></script>\n' : ''}</head>
<body style="margin:0">
<openapi-explorer spec-url="openapi.json" hide-server-selection use-path-in-nav-bar="true">
<main style="font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere">
<h1>Tollgate API</h1>
<p>The OpenAPI 3.1 document is at <a href="openapi.json">openapi.json</a>, a summary at <a href="llms.txt">llms.txt</a>.</p>
<ul>
${guides.map(({ name, title }) => `<li><a href="docs/${name}">${title}</a></li>`).join('\n')}
</ul>
<ul>
${documentedRoutes.map(({ method, path, documentation }) => `<li><code>${method} ${path}</code><br>${documentation.summary}</li>`).join('\n')}
</ul>
</main>
</openapi-explorer>
</body>
</html>
`

const GUIDE_STYLE = `
body { margin: 0; font: 15px/1.6 system-ui, sans-serif }
main, nav { max-width: 52rem; margin: 0 auto; padding: 0 1rem 3rem }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; padding-block: 1rem; font-size: 13px }
a { color: var(--accent) }
h2 a, h3 a, h4 a { color: inherit; text-decoration: none }
h2 { margin-top: 2.5rem }
:target { text-decoration: underline }
table { display: block; max-width: 100%; overflow-x: auto; border-collapse: collapse }
th, td { padding: 0.35rem 0.75rem 0.35rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #8884 }
code { font: 13px ui-monospace, monospace }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid #8884; border-radius: 6px }
`

const guidePage = ({ name, title, html }: Guide, guides: readonly Guide[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Tollgate</title>
<link rel="alternate" type="text/markdown" href="${name}.md">
<style>${GUIDE_STYLE}</style>
<script defer src="theme.js"></script>
</head>
<body>
<nav aria-label="Guides">
<a href="../docs">API reference</a>
${guides.map((each) => `<a href="${each.name}"${each.name === name ? ' aria-current="page"' : ''}>${each.title}</a>`).join('\n')}
</nav>
<main>
${html}
</main>
</body>
</html>
`

const summary = (guides: readonly Guide[]): string => `# Tollgate

> A prepaid gateway to generative models with one base URL and one API key. It speaks the APIs of OpenAI, Anthropic and
> Google. Every text model answers in every text format.

- Base URL: this server's address with \`/v1\`. Key: \`Authorization: Bearer sk-tg-…\`.
- Models: \`GET /v1/models\` lists the ids that a key may use. Ids are opaque.
- Streams: \`"stream": true\`. Errors: \`{"error":{"message","type","param","code"}}\`.
- Safe repetition: with an \`Idempotency-Key\` a request runs once and is charged once in 24 hours.
- Money: 401 \`insufficient_balance\` names the available, held and needed amounts. \`GET /v1/balance\` is free.

## Endpoints

${documentedRoutes.map(({ method, path, documentation }) => `- \`${method} ${path}\`: ${documentation.summary}`).join('\n')}

## More

- [OpenAPI 3.1 document](openapi.json)
${guides.map(({ name, title }) => `- [${title}](docs/${name}.md)`).join('\n')}
`

const HTML = 'text/html; charset=utf-8'

/** Builds all documents once. */
export async function makeDocuments(version: string): Promise<ReadonlyMap<string, Document>> {
  const packed = `${VIEWER}.gz`
  const hasViewer = existsSync(packed)
  const guides = readGuides()
  const html: Document = { type: HTML, body: page(hasViewer, guides) }
  const documents = new Map<string, Document>([
    ['/docs', html],
    ['/docs/theme.js', { type: 'text/javascript; charset=utf-8', body: themeScript }],
    ['/openapi.json', { type: 'application/json; charset=utf-8', body: JSON.stringify(await publicOpenApi(version)) }],
    ['/llms.txt', { type: 'text/plain; charset=utf-8', body: summary(guides) }],
  ])
  for (const guide of guides) {
    documents.set(`/docs/${guide.name}`, { type: HTML, body: guidePage(guide, guides) })
    documents.set(`/docs/${guide.name}.md`, { type: 'text/markdown; charset=utf-8', body: guide.markdown })
  }
  if (hasViewer) {
    const body = readFileSync(packed)
    documents.set('/docs/viewer.js', { type: 'text/javascript; charset=utf-8', body, encoding: 'gzip' })
  }
  return documents
}

/** Answers a request for a document. */
export function replyWithDocument(exchange: ServerExchange, documents: ReadonlyMap<string, Document>): void {
  const { method, path } = exchange.head
  // The redirect is relative like all links of the documents: the gateway does not know the prefix of a proxy.
  if (path === '/docs/') return exchange.reply(308, { ...HEADERS, location: '../docs' }, '')
  const found = documents.get(path)
  if (!found || (method !== 'GET' && method !== 'HEAD')) {
    const status = found ? 405 : 404
    return exchange.reply(
      status,
      { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' },
      'There is no such page.\n',
    )
  }
  const { type, body, encoding } = found
  if (encoding === undefined) return exchange.reply(200, { ...HEADERS, 'content-type': type }, body)
  const takesGzip = /\bgzip\b/.test(exchange.header('accept-encoding') ?? '')
  const headers = { ...HEADERS, 'content-type': type, vary: 'accept-encoding' }
  if (takesGzip) return exchange.reply(200, { ...headers, 'content-encoding': encoding }, body)
  return exchange.reply(200, headers, unpacked(body as Uint8Array<ArrayBuffer>))
}

/** The unpacked viewer is kept. It is one file, and unpacking it takes a millisecond. */
const unpackedBodies = new WeakMap<Uint8Array, Uint8Array>()

function unpacked(body: Uint8Array<ArrayBuffer>): Uint8Array {
  const bytes = unpackedBodies.get(body) ?? Bun.gunzipSync(body)
  unpackedBodies.set(body, bytes)
  return bytes
}
