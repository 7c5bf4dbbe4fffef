/**
 * The look of the API viewer. It uses the colours of the console (web/src/app/styles.css) and the theme that was chosen
 * there. The viewer accepts colours only as hexadecimal digits, so they are repeated here.
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

/** Runs before the viewer starts. It sets the server address and the theme, which may change in another window. */
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
  // The viewer draws links in its own --blue if that is not set. On white that blue is too pale to read.
  for (const name of ['--accent', '--blue']) document.documentElement.style.setProperty(name, look['primary-color'])
  const viewer = document.querySelector('openapi-explorer')
  for (const [name, value] of Object.entries(look)) viewer?.setAttribute(name, value)
}
// The server address of the document is relative. The viewer would take it for the end of a host name.
document.querySelector('openapi-explorer')?.setAttribute('server-url', new URL('.', location).href.replace(/\\/$/, ''))
prefersDark.addEventListener('change', paint)
addEventListener('storage', paint)
paint()
`
