/**
 * How the viewer of the documents looks: as the console does (web/src/app/styles.css), light or dark as was chosen
 * there. It takes colours as hexadecimal digits alone, so the console's are written down once more.
 */
type Look = Readonly<Record<string, string>>

const lookOf = (colours: {
  readonly page: string
  readonly side: string
  readonly hover: string
  readonly ink: string
  readonly soft: string
  readonly accent: string
}): Look => ({
  'bg-color': colours.page,
  'header-bg-color': colours.side,
  'nav-bg-color': colours.side,
  'nav-hover-bg-color': colours.hover,
  'text-color': colours.ink,
  'header-color': colours.ink,
  'nav-text-color': colours.soft,
  'nav-hover-text-color': colours.ink,
  'primary-color': colours.accent,
  'secondary-color': colours.accent,
})

const looks = {
  light: lookOf({
    page: '#f9fafb',
    side: '#ffffff',
    hover: '#eceef3',
    ink: '#171b22',
    soft: '#535861',
    accent: '#3053bc',
  }),
  dark: lookOf({
    page: '#0f1114',
    side: '#16181d',
    hover: '#23272d',
    ink: '#e9ebef',
    soft: '#a4a8af',
    accent: '#84a8fd',
  }),
}

/** Before the viewer starts: where it sends its tries, and how it looks, which may change in another window. */
export const themeScript = `const looks = ${JSON.stringify(looks)}
const prefersDark = matchMedia('(prefers-color-scheme: dark)')
const chosen = () => {
  try {
    return JSON.parse(localStorage.getItem('tollgate') ?? '{}').theme
  } catch {
    return undefined
  }
}
const paint = () => {
  const theme = { light: 'light', dark: 'dark' }[chosen()] ?? (prefersDark.matches ? 'dark' : 'light')
  const look = looks[theme]
  document.documentElement.dataset.theme = theme
  document.documentElement.style.colorScheme = theme
  document.body.style.background = look['bg-color']
  document.body.style.color = look['text-color']
  document.body.style.fontFamily = 'system-ui, sans-serif'
  // The viewer's links are in its own --blue unless it finds one: on white that blue is too pale to read.
  for (const name of ['--accent', '--blue']) document.documentElement.style.setProperty(name, look['primary-color'])
  const viewer = document.querySelector('openapi-explorer')
  for (const [name, value] of Object.entries(look)) viewer?.setAttribute(name, value)
}
// The document's server is the folder it lies in, which the viewer takes for the end of a host's name.
document.querySelector('openapi-explorer')?.setAttribute('server-url', new URL('.', location).href.replace(/\\/$/, ''))
prefersDark.addEventListener('change', paint)
addEventListener('storage', paint)
paint()
`
