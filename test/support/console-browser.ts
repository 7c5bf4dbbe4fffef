/** The console in a real browser: a gateway of its own, users to sign in as, and the rules of every page. */
import { expect } from 'bun:test'
import { startBrowser, type Browser, type BrowserPage, type PageOptions } from './browser.ts'
import { startGateway, type GatewayOptions, type TestGateway } from './gateway.ts'

export const PASSWORD = 'correct horse battery'

export type ConsoleStage = {
  readonly gateway: TestGateway
  readonly browser: Browser
  /** `http://127.0.0.1:…/console` */
  readonly url: string
  /** A page in which somebody is signed in. */
  enter(user: Person, options?: PageOptions): Promise<BrowserPage>
  /** The one-time link of somebody new. */
  invite(user: Person): Promise<string>
  close(): Promise<void>
}

export type Person = { readonly name: string; readonly role: 'operator' | 'owner' | 'member' }

/** The people of a test are not of the first account: beside a vendor the sandbox is theirs where the file says so. */
const OPEN = 'sandbox: true\n'

export async function openStage(options?: GatewayOptions): Promise<ConsoleStage> {
  const gateway = await startGateway({ yaml: OPEN, ...options })
  const browser = await startBrowser()
  const origin = new URL(gateway.baseUrl).origin
  const invite = async ({ name, role }: Person): Promise<string> => {
    const account = role === 'operator' ? {} : { account: gateway.accountId }
    const made = await gateway.operate<{ setup_path: string }>('user.create', { name, role, ...account })
    return origin + made.setup_path
  }
  return {
    gateway,
    browser,
    url: `${origin}/console`,
    invite,
    async enter(user, pageOptions = { viewport: { width: 1280, height: 800 } }) {
      const page = browser.open(pageOptions)
      await page.goto(await invite(user))
      await page.fill('role=textbox[name="New password"]', PASSWORD)
      await page.fill('role=textbox[name="Confirm password"]', PASSWORD)
      await page.click('role=button[name="Save and sign in"]')
      await page.appears('#main h1')
      return page
    },
    async close() {
      await browser.close()
      await gateway.close()
    },
  }
}

/** Nothing was thrown, refused by the content policy, or written as an error, but for refusals that a test is about. */
export async function expectQuiet(page: BrowserPage, refused: readonly number[] = []): Promise<void> {
  const isMeant = (problem: string): boolean => refused.some((status) => problem.includes(`a status of ${status} `))
  expect((await page.problems()).filter((problem) => !isMeant(problem))).toEqual([])
}
