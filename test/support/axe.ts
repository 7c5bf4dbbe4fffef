/** Accessibility checks of a page, as far as a program can do them. */
import { readFileSync } from 'node:fs'
import type { BrowserPage } from './browser.ts'

const source = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
type Violation = {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** A dialog that is still fading in has colours that nobody reads. What turns without end is not waited for. */
const SETTLED = `Promise.allSettled(
  document.getAnimations()
    .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
    .map(({ finished }) => finished)
).then(() => 'axe' in window)`

/**
 * Every document that the page loads from now on has the checks. To send them to a document costs a tenth of a second
 * of processor time, which matters for a page that is checked at many addresses.
 */
export const preloadChecks = (page: BrowserPage): Promise<unknown> => page.call('addInitScript', { content: source })

/** What is wrong, one line each; empty is good. */
export async function violationsOf(page: BrowserPage): Promise<readonly string[]> {
  const isLoaded = await page.evaluate<boolean>(SETTLED)
  if (!isLoaded) await page.evaluate(`${source}; undefined`)
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(document, { runOnly: ${JSON.stringify(tags)}, resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )
  return found.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ html, failureSummary }) =>
        `${id}: ${html.slice(0, 160)} — ${failureSummary.replaceAll('\n', ' ').slice(0, 200)}`,
    ),
  )
}
