/** Small pictures as SVG text. The same figures make the same bytes. */

export type Bar = { readonly label: string; readonly values: readonly number[] }
export type BarChart = {
  readonly title: string
  /** What each value of a bar is. */
  readonly series: readonly string[]
  readonly bars: readonly Bar[]
  readonly shown: (value: number) => string
}

const COLORS = ['#3b6fb6', '#d98032', '#5f9e6e', '#8a6fb0']
const FONT = 'font-family="system-ui, sans-serif" font-size="12"'
const [WIDTH, LEFT, RIGHT, ROW] = [640, 130, 90, 16]

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
const rounded = (value: number): string => String(Math.round(value * 10) / 10)
const colorOf = (i: number): string => COLORS[i % COLORS.length] ?? ''

const textAt = (x: number, y: number, text: string, more = ''): string =>
  `<text x="${rounded(x)}" y="${rounded(y)}" fill="#222" ${more}>${escaped(text)}</text>`

function framed(title: string, height: number, parts: readonly string[]): string {
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`
  const label = `role="img" aria-label="${escaped(title)}"`
  const paper = '<rect width="100%" height="100%" fill="#fff"/>'
  const head = textAt(10, 20, title, 'font-weight="600"')
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${label} ${FONT}>\n${[paper, head, ...parts].join('\n')}\n</svg>\n`
}

const legend = (series: readonly string[]): readonly string[] =>
  series.flatMap((name, i) => [
    `<rect x="${LEFT + i * 120}" y="30" width="10" height="10" fill="${colorOf(i)}"/>`,
    textAt(LEFT + 14 + i * 120, 39, name),
  ])

export function drawBars({ title, series, bars, shown }: BarChart): string {
  const most = Math.max(...bars.flatMap(({ values }) => values)) || 1
  const height = 56 + bars.length * (series.length * ROW + 8)
  const parts = bars.flatMap(({ label, values }, i) => {
    const top = 50 + i * (series.length * ROW + 8)
    return [
      textAt(LEFT - 8, top + (series.length * ROW) / 2 + 3, label, 'text-anchor="end"'),
      ...values.flatMap((value, at) => {
        const width = Math.max(1, (value / most) * (WIDTH - LEFT - RIGHT))
        const y = top + at * ROW
        return [
          `<rect x="${LEFT}" y="${y}" width="${rounded(width)}" height="${ROW - 3}" fill="${colorOf(at)}"/>`,
          textAt(LEFT + width + 6, y + 10, shown(value)),
        ]
      }),
    ]
  })
  return framed(title, height, [...(series.length > 1 ? legend(series) : []), ...parts])
}

export type ShareChart = {
  readonly title: string
  readonly names: readonly string[]
  /** One row for each chart below the other. */
  readonly rows: readonly { readonly label: string; readonly shares: readonly (readonly number[])[] }[]
  /** Under the time axis. */
  readonly spanText: string
}

const CHART = 70

/** The share of each name over time, stacked. */
export function drawShares({ title, names, rows, spanText }: ShareChart): string {
  const parts = rows.flatMap(({ label, shares }, row) => {
    const top = 52 + row * (CHART + 14)
    const step = (WIDTH - LEFT - 20) / Math.max(1, shares.length)
    const stacks = shares.flatMap((span, at) => {
      let from = 0
      return span.map((share, i) => {
        const y = top + from * CHART
        from += share
        const size = `width="${rounded(step + 0.3)}" height="${rounded(share * CHART)}"`
        return `<rect x="${rounded(LEFT + at * step)}" y="${rounded(y)}" ${size} fill="${colorOf(i)}"/>`
      })
    })
    return [textAt(LEFT - 8, top + CHART / 2, label, 'text-anchor="end"'), ...stacks]
  })
  const height = 52 + rows.length * (CHART + 14) + 16
  return framed(title, height, [...legend(names), ...parts, textAt(LEFT, height - 8, spanText)])
}
