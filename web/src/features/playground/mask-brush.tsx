/** Painting over the part of a picture that is to be made anew. */
import { useEffect, useRef, useState, type PointerEvent } from 'react'
import { useT } from '../../lib/i18n/language.ts'
import { Button } from '../../ui/button.tsx'

type Props = { readonly file: File; readonly onMask: (mask: Blob | undefined) => void }

const SHADE = 'rgb(220 40 120)'

export function MaskBrush({ file, onMask }: Props) {
  const t = useT()
  const canvas = useRef<HTMLCanvasElement>(null)
  const last = useRef<readonly [number, number]>(undefined)
  const [address, setAddress] = useState('')
  const [percent, setPercent] = useState(8)
  const [isPainted, setPainted] = useState(false)
  useEffect(() => {
    const made = URL.createObjectURL(file)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [file])

  const at = ({ clientX, clientY }: PointerEvent): readonly [number, number] => {
    const box = canvas.current?.getBoundingClientRect()
    const scale = (canvas.current?.width ?? 1) / (box?.width ?? 1)
    return [(clientX - (box?.left ?? 0)) * scale, (clientY - (box?.top ?? 0)) * scale]
  }
  const paint = (event: PointerEvent): void => {
    const context = canvas.current?.getContext('2d')
    if (!context || !last.current) return
    const [x, y] = at(event)
    context.strokeStyle = SHADE
    context.lineWidth = (context.canvas.width * percent) / 100
    context.lineCap = 'round'
    context.beginPath()
    context.moveTo(...last.current)
    context.lineTo(x, y)
    context.stroke()
    last.current = [x, y]
  }
  const end = (): void => {
    if (!last.current) return
    last.current = undefined
    setPainted(true)
    if (canvas.current) void maskOf(canvas.current).then(onMask)
  }
  const clear = (): void => {
    canvas.current?.getContext('2d')?.clearRect(0, 0, canvas.current.width, canvas.current.height)
    setPainted(false)
    onMask(undefined)
  }
  return (
    <div className="space-y-2">
      <div className="relative inline-block max-w-full overflow-hidden rounded-md border">
        <img
          src={address || undefined}
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
          className="absolute inset-0 size-full touch-none cursor-crosshair opacity-50"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId)
            last.current = at(event)
            paint(event)
          }}
          onPointerMove={paint}
          onPointerUp={end}
          onPointerCancel={end}
        />
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

/** Opaque but where it was painted. */
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
