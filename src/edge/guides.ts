/** The guides of `docs/`: as pages below `/docs/`, and as they were written, for whoever reads Markdown. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const FOLDER = resolve(import.meta.dir, '../../docs')

/** In the order in which they are listed. The other files are for whoever works on the gateway itself. */
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
  /** What stands in the page, without its frame. */
  readonly html: string
}

/** Reads and renders them all: a tenth of a second, once. */
export const readGuides = (): readonly Guide[] =>
  names.map((name) => {
    const markdown = readFileSync(resolve(FOLDER, `${name}.md`), 'utf8')
    const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name
    return { name, title, markdown, html: linked(anchored(Bun.markdown.html(markdown))) }
  })

/** Headings have the anchors that they have wherever else Markdown is shown. */
const anchored = (html: string): string =>
  html.replace(/<h([2-4])>(.*?)<\/h\1>/g, (_, level: string, inner: string) => {
    const slug = inner
      .replace(/<[^>]*>/g, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    return `<h${level} id="${slug}"><a href="#${slug}">${inner}</a></h${level}>`
  })

/** Links between guides lead to their pages; those to files that are served to nobody are words. */
const linked = (html: string): string =>
  html.replace(/<a href="([^"#][^"]*)">(.*?)<\/a>/g, (link, target: string, inner: string) => {
    if (/^https?:/.test(target)) return link
    if (target === 'openapi.json') return `<a href="../openapi.json">${inner}</a>`
    const [file = '', anchor] = target.split('#')
    const name = names.find((each) => `${each}.md` === file)
    return name === undefined ? inner : `<a href="${name}${anchor === undefined ? '' : `#${anchor}`}">${inner}</a>`
  })
