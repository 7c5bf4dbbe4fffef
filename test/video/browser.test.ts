/** A finished video in a real browser on a foreign page: it plays, and it can seek to parts that are not loaded. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type Browser } from '../support/browser.ts'
import { startForeignSite, type ForeignSite } from '../support/foreign-site.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { VideoClient, words } from '../support/video-client.ts'

let gateway: TestGateway
let browser: Browser
let site: ForeignSite

beforeAll(async () => {
  const env = { TOLLGATE_VIDEO_POLL_MS: '30' }
  ;[gateway, browser] = await Promise.all([startGateway({ env, balanceUsd: '10' }), startBrowser()])
  site = startForeignSite()
}, 150_000)
afterAll(async () => {
  await browser.close()
  await site.stop()
  await gateway.close()
}, 30_000)

/** Runs in the page: what became of the video. `frame` is the time of the frame that was last put on the screen. */
const WATCH = `(async () => {
  const it = document.getElementById('it')
  const happens = (name) =>
    new Promise((resolve, reject) => {
      it.addEventListener(name, resolve, { once: true })
      it.addEventListener('error', () => reject(new Error(it.error.message)), { once: true })
    })
  const frameAt = () => new Promise((resolve) => it.requestVideoFrameCallback((_, { mediaTime }) => resolve(mediaTime)))
  if (it.readyState < 3) await happens('canplay')
  const { videoWidth: width, videoHeight: height, duration } = it
  await it.play()
  while (it.currentTime < 0.5) await frameAt()
  it.pause()
  const played = it.currentTime
  const jumpTo = async (seconds) => {
    const frame = frameAt()
    const seeked = happens('seeked')
    it.currentTime = seconds
    await seeked
    return frame
  }
  const frames = [await jumpTo(7.5), await jumpTo(2.25)]
  return { width, height, duration, played, frames, hasSound: it.webkitAudioDecodedByteCount > 0 }
})()`

type WatchedVideo = {
  readonly width: number
  readonly height: number
  readonly duration: number
  readonly played: number
  readonly frames: readonly number[]
  readonly hasSound: boolean
}

test('it plays, sound included, and seeks forwards and back', async () => {
  const client = new VideoClient(gateway)
  const asked = { model: 'sandbox-video', content: [words('a boat [sandbox: task-ms=50]')], duration: 8 }
  const { id } = await client.made({ ...asked, resolution: '480p', ratio: '16:9', generate_audio: true })
  const { status, metadata } = await client.ended(id)
  expect(status).toBe('completed')
  site.show(`<video id="it" muted preload="metadata" src="${metadata?.url}"></video>`)
  const page = browser.open()
  await page.goto(site.url)
  const watched = await page.evaluate<WatchedVideo>(WATCH)
  const { width, height, duration, played, frames, hasSound } = watched
  expect({ width, height, duration: Math.round(duration) }).toEqual({ width: 854, height: 480, duration: 8 })
  expect(played).toBeGreaterThanOrEqual(0.5)
  expect(frames.map((seconds) => Math.round(seconds * 4) / 4)).toEqual([7.5, 2.25])
  expect(hasSound).toBe(true)
  await page.close()
}, 60_000)

test('an address of nothing plays nothing: the test above can fail', async () => {
  site.show(`<video id="it" muted src="${gateway.baseUrl}/videos/none/content"></video>`)
  const page = browser.open()
  await page.goto(site.url)
  const WHY = `new Promise((resolve) => (document.getElementById('it').onerror = () => resolve('error')))`
  expect(await page.evaluate(`document.getElementById('it').error ? 'error' : ${WHY}`)).toBe('error')
  await page.close()
}, 60_000)
