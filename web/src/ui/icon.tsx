/** Icons as paths on a grid of 16, in the colour of the surrounding text. */
const paths = {
  overview: 'M2 13V8m4 5V3m4 10V6m4 7V9',
  key: 'M6.5 9.5a3.5 3.5 0 1 1 2-2L14 13v1.5h-2.5V13H10v-1.5z M4.8 5.2h.01',
  usage: 'M2 14h12M3.5 11V8.5h2V11m2 0V4h2v7m2 0V6h2v5',
  list: 'M2 4h12M2 8h12M2 12h12',
  tasks: 'M2.5 3.5h11v9h-11z M6.5 6v4L10 8z',
  play: 'M2 3.5h12v8H7l-3.5 2.5v-2.5H2z',
  models: 'M8 1.8 14 5v6l-6 3.2L2 11V5z M2 5l6 3 6-3M8 8v6',
  billing: 'M2 3.5h12v9H2z M2 6.5h12M4.5 10h3',
  settings: 'M2 4.5h7m3 0h2M2 11.5h2m3 0h7 M10.5 3v3 M5.5 10v3',
  plug: 'M6 2v3m4-3v3M4 5h8v3a4 4 0 0 1-8 0z M8 12v2.5',
  route: 'M3 13V9a3 3 0 0 1 3-3h7m0 0-2.5-2.5M13 6l-2.5 2.5 M3 4v2',
  tag: 'M2 2.5h6l6 6-5.5 5.5-6.5-6.5z M5 5.5h.01',
  people:
    'M6 7.5A2.5 2.5 0 1 0 6 2.500a2.5 2.5 0 0 0 0 5z M1.5 14c0-2.5 2-4.5 4.5-4.500s4.5 2 4.5 4.5 M10.5 2.800a2.5 2.5 0 0 1 0 4.5 M12 9.800c1.6.7 2.5 2.2 2.5 4.2',
  ticket: 'M2 4h12v3a1.2 1.2 0 0 0 0 2.400V12H2V9.400A1.2 1.2 0 0 0 2 7z M9.5 4v8',
  health: 'M1.5 8.500h3l2-5 3 9 2-4h3',
  audit: 'M4 1.500h6l3 3v10H4z M6.5 7h4m-4 3h4',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zm3.6-1.400L14 14',
  copy: 'M5.5 5.500h8v8h-8z M10.5 5V2.500h-8v8H5',
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8m0-8-8 8',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8z M8 9.800a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.600z',
  warning: 'M8 2 15 14H1z M8 6.500v3.5 M8 12h.01',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z M8 7.5v3.500 M8 5.200h.01',
  stop: 'M4 4h8v8H4z',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z M8 5v3l2 1.5',
  left: 'M10 3 5 8l5 5',
  right: 'M6 3l5 5-5 5',
  down: 'M3.5 6 8 10.5 12.5 6',
  up: 'M3.5 10 8 5.5 12.5 10',
  star: 'M8 2l1.900 3.900 4.300.600-3.100 3 .700 4.300L8 11.800l-3.800 2 .700-4.300-3.100-3 4.300-.600z',
  plus: 'M8 3v10M3 8h10',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6z M8 1v1.500m0 11V15M1 8h1.500m11 0H15M3 3l1 1m8 8 1 1m0-10-1 1m-8 8-1 1',
  moon: 'M13.5 9.500A6 6 0 0 1 6.5 2.500a6 6 0 1 0 7 7z',
  out: 'M6 2.500H2.500v11H6 M10 5l3 3-3 3 M13 8H6',
  menu: 'M2 4h12M2 8h12M2 12h12',
  download: 'M8 2v8m0 0L5 7m3 3 3-3M2.5 13.500h11',
  external: 'M9 2.500h4.500V7 M13.5 2.5 7 9 M11 9.500v4H2.500V5h4',
  more: 'M2.9 8a.6.6 0 1 0 1.200 0 .6.6 0 1 0-1.200 0zm4.500 0a.6.6 0 1 0 1.200 0 .6.6 0 1 0-1.200 0zm4.500 0a.6.6 0 1 0 1.200 0 .6.6 0 1 0-1.200 0z',
  lock: 'M3.5 7h9v7h-9z M5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  brush: 'M9 7 13.5 2.5 M9 7l-2 2 M6.5 9c-2 0-2.5 1.5-2.5 3 0 1-1 1.5-2 1.5 3 1 6.5.5 6.5-2.500z',
  image: 'M2 3h12v10H2z M2 11l3.5-3.500L9 11l2-2 3 3 M10.5 6h.01',
  home: 'M2 7.5 8 2.500l6 5M4 6.500V13h8V6.5',
} as const

export type IconName = keyof typeof paths

export function Icon({ name, className = '' }: { readonly name: IconName; readonly className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={`inline-block size-4 shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  )
}
