/** Painting a mask over the area of an image that is to change. */
import { useRef, useState, type KeyboardEvent, type PointerEvent } from 'react'
import { useT } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { useFileAddress } from './files-field.tsx'

type Props = { readonly file: File; readonly onMask: (mask: Blob | undefined) => void }

const SHADE = 'rgb(220 40 120)'
type Point = readonly [number, number]

/** The step of an arrow key, as a share of the image. */
const STEP = 0.04
const arrows: Readonly<Record<string, Point>> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
}

/** A brush on a canvas, moved by a pointer or by keys. `percent` is its width as a share of the image width. */
function useBrush(percent: number, onMask: Props['onMask']) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const last = useRef<Point>(undefined)
  const [isPainted, setPainted] = useState(false)
  /** The brush position of the keyboard, as shares of the image. Undefined: no position yet. */
  const [held, setHeld] = useState<Point>()

  const at = ({ clientX, clientY }: PointerEvent): Point => {
    const box = canvas.current?.getBoundingClientRect()
    const scale = (canvas.current?.width ?? 1) / (box?.width ?? 1)
    return [(clientX - (box?.left ?? 0)) * scale, (clientY - (box?.top ?? 0)) * scale]
  }
  const stroke = (from: Point, to: Point): void => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    context.strokeStyle = SHADE
    context.lineWidth = (context.canvas.width * percent) / 100
    context.lineCap = 'round'
    context.beginPath()
    context.moveTo(...from)
    context.lineTo(...to)
    context.stroke()
  }
  const paint = (event: PointerEvent): void => {
    if (!last.current) return
    const to = at(event)
    stroke(last.current, to)
    last.current = to
  }
  const tell = (): void => {
    setPainted(true)
    if (canvas.current) void maskOf(canvas.current).then(onMask)
  }
  const end = (): void => {
    if (!last.current) return
    last.current = undefined
    tell()
  }
  const onKey = (event: KeyboardEvent<HTMLCanvasElement>): void => {
    const { width, height } = event.currentTarget
    const from = held ?? [0.5, 0.5]
    const by = arrows[event.key]
    const isPress = event.key === ' ' || event.key === 'Enter'
    if (!by && !isPress) return
    event.preventDefault()
    const to: Point = [within(from[0] + (by?.[0] ?? 0)), within(from[1] + (by?.[1] ?? 0))]
    setHeld(to)
    if (!isPress && !event.shiftKey) return
    stroke([from[0] * width, from[1] * height], [to[0] * width, to[1] * height])
    tell()
  }
  const clear = (): void => {
    canvas.current?.getContext('2d')?.clearRect(0, 0, canvas.current.width, canvas.current.height)
    setPainted(false)
    onMask(undefined)
  }
  const begin = (event: PointerEvent): void => {
    event.currentTarget.setPointerCapture(event.pointerId)
    last.current = at(event)
    paint(event)
  }
  return { canvas, held, isPainted, clear, paint, begin, end, onKey, onBlur: () => setHeld(undefined) }
}

export function MaskBrush({ file, onMask }: Props) {
  const t = useT()
  const address = useFileAddress(file)
  const [percent, setPercent] = useState(8)
  const { canvas, held, isPainted, clear, ...brush } = useBrush(percent, onMask)
  return (
    <div className="space-y-2">
      <div className="relative inline-block max-w-full overflow-hidden rounded-md border">
        <img
          src={address}
          alt={t('play.source')}
          className="block max-h-[50vh] max-w-full"
          onLoad={({ currentTarget: image }) => {
            if (canvas.current)
              Object.assign(canvas.current, { width: image.naturalWidth, height: image.naturalHeight })
          }}
        />
        <canvas
          ref={canvas}
          data-testid="mask"
          tabIndex={0}
          role="application"
          aria-label={t('play.brushArea')}
          onKeyDown={brush.onKey}
          onBlur={brush.onBlur}
          className="absolute inset-0 size-full touch-none cursor-crosshair opacity-50 -outline-offset-2"
          onPointerDown={brush.begin}
          onPointerMove={brush.paint}
          onPointerUp={brush.end}
          onPointerCancel={brush.end}
        />
        {held && (
          <span
            aria-hidden="true"
            className="pointer-events-none absolute aspect-square -translate-1/2 rounded-full border-2 border-accent"
            style={{ left: `${held[0] * 100}%`, top: `${held[1] * 100}%`, width: `${percent}%` }}
          />
        )}
      </div>
      <div className="flex flex-wrap items-center gap-3">
        <label className="flex items-center gap-2">
          {t('play.brush')}
          <input
            type="range"
            min={2}
            max={30}
            value={percent}
            onChange={(event) => setPercent(Number(event.target.value))}
            className="accent-accent"
          />
        </label>
        <Button kind="quiet" disabled={!isPainted} onClick={clear}>
          {t('play.noMask')}
        </Button>
      </div>
      <p className="text-xs text-soft">{isPainted ? t('play.masked') : t('play.maskHint')}</p>
    </div>
  )
}

const within = (share: number): number => Math.min(1, Math.max(0, share))

/** Opaque except for the painted area. */
async function maskOf(painted: HTMLCanvasElement): Promise<Blob | undefined> {
  const mask = document.createElement('canvas')
  Object.assign(mask, { width: painted.width, height: painted.height })
  const context = mask.getContext('2d')
  if (!context) return undefined
  context.fillRect(0, 0, mask.width, mask.height)
  context.globalCompositeOperation = 'destination-out'
  context.drawImage(painted, 0, 0)
  return (await new Promise<Blob | null>((resolve) => mask.toBlob(resolve, 'image/png'))) ?? undefined
}
