/** The guides of `docs/`: as pages below `/docs/`, and as the original Markdown. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const FOLDER = resolve(import.meta.dir, '../../docs')

/** The guides in the order of the menu. The other files of `docs/` are for developers of the gateway. */
const names = [
  'api',
  'errors',
  'dialects',
  'console',
  'operations',
  'console-api',
  'secrets',
  'sandbox',
  'reliability',
] as const

export type Guide = {
  readonly name: string
  readonly title: string
  readonly markdown: string
  /** The content of the page without its frame. */
  readonly html: string
}

/** Reads and renders all guides. This takes a tenth of a second and happens once. */
export const readGuides = (): readonly Guide[] =>
  names.map((name) => {
    const markdown = readFileSync(resolve(FOLDER, `${name}.md`), 'utf8')
    const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name
    return { name, title, markdown, html: linked(anchored(Bun.markdown.html(markdown))) }
  })

/** Headings get the same anchors as on other Markdown viewers. */
const anchored = (html: string): string =>
  html.replace(/<h([2-4])>(.*?)<\/h\1>/g, (_, level: string, inner: string) => {
    const slug = inner
      .replace(/<[^>]*>/g, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    return `<h${level} id="${slug}"><a href="#${slug}">${inner}</a></h${level}>`
  })

/** Links between guides lead to their pages. Links to files that are not served become plain text. */
const linked = (html: string): string =>
  html.replace(/<a href="([^"#][^"]*)">(.*?)<\/a>/g, (link, target: string, inner: string) => {
    if (/^https?:/.test(target)) return link
    if (target === 'openapi.json') return `<a href="../openapi.json">${inner}</a>`
    const [file = '', anchor] = target.split('#')
    const name = names.find((each) => `${each}.md` === file)
    return name === undefined ? inner : `<a href="${name}${anchor === undefined ? '' : `#${anchor}`}">${inner}</a>`
  })
