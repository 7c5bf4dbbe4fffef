// What is wrong with the layout of a page as it stands. This file runs in the browser: test/support/layout.ts takes it
// there. Every sentence of `layoutFaults()` is a fault, with the words that are concerned. Boxes are
// { left, right, top, bottom }.
const isClipping = (value) => value === 'hidden' || value === 'clip'
const short = (text) => text.trim().replaceAll(/\s+/g, ' ').slice(0, 60)
const isThere = ({ left, right, top, bottom }) => right - left > 1 && bottom - top > 1
const cut = (a, b) => ({
  left: Math.max(a.left, b.left),
  right: Math.min(a.right, b.right),
  top: Math.max(a.top, b.top),
  bottom: Math.min(a.bottom, b.bottom),
})

// What of an element's surroundings matters to the words in it, asked of each element once. `isUnseen`: for those who
// do not see, one pixel, or nothing. `frames`: what cuts it, from the inside out. `layer`: a heading that stays lies
// over the rows that scroll below it, and what floats over all.
const known = new Map()
function around(element) {
  const before = known.get(element)
  if (before) return before
  const parent = element.parentElement
  const outer = parent ? around(parent) : { isUnseen: false, frames: [], layer: null }
  const { overflowX, overflowY, textOverflow, position, clipPath } = getComputedStyle(element)
  const inner = element.getBoundingClientRect()
  const { left, right, top, bottom } = inner
  const isFrame = element !== document.body && (overflowX !== 'visible' || overflowY !== 'visible')
  const cuts = { cutsX: isClipping(overflowX), cutsY: isClipping(overflowY), isShortened: textOverflow === 'ellipsis' }
  const isPoint = clipPath === 'inset(50%)' || (inner.width <= 1 && isClipping(overflowX))
  const made = {
    isUnseen:
      outer.isUnseen || isPoint || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true }),
    frames: isFrame ? [{ left, right, top, bottom, ...cuts }, ...outer.frames] : outer.frames,
    layer: ['sticky', 'fixed'].includes(position) ? element : outer.layer,
  }
  known.set(element, made)
  return made
}
const isUnseen = (element) => around(element).isUnseen

// The part of a line of text that is in sight; undefined where it is scrolled away.
function partInSight(text, element, rect, faults) {
  let box = rect
  for (const frame of around(element).frames) {
    const whole = box
    box = cut(box, frame)
    if (!isThere(box)) return undefined
    const lostX = Math.max(frame.left - whole.left, whole.right - frame.right)
    const lostY = Math.max(frame.top - whole.top, whole.bottom - frame.bottom)
    const isWhole = frame.isShortened && element.closest('[title]') !== null
    if (frame.cutsX && !isWhole && lostX > 1) faults.add(`cut off without a title: ${short(text)}`)
    // Letters are lower than their lines.
    if (frame.cutsY && lostY > 5) faults.add(`cut off in its height: ${short(text)}`)
  }
  if (box.right > innerWidth + 1) faults.add(`beyond the edge: ${short(text)}`)
  return box
}

function textsIn(root, faults) {
  const shown = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const [text, element] = [node.textContent, node.parentElement]
    if (text.trim() === '' || element.closest('select, option, textarea, pre') || isUnseen(element)) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const rects = [...range.getClientRects()].filter(isThere)
    if (rects.length > 1 && /^[<>]? ?−?\$[\d.,]+$/.test(text.trim())) {
      faults.add(`an amount in two lines: ${short(text)}`)
    }
    for (const rect of rects) {
      const box = partInSight(text, element, rect, faults)
      if (box) shown.push({ text, element, box })
    }
  }
  return shown
}

function findOverlaps(shown, faults) {
  const sorted = shown.toSorted((a, b) => a.box.top - b.box.top)
  for (const [at, one] of sorted.entries()) {
    for (let next = at + 1; next < sorted.length; next++) {
      const other = sorted[next]
      if (other.box.top > one.box.bottom) break
      const both = cut(one.box, other.box)
      // Lines of text may touch: their boxes are higher than their letters.
      if (both.right - both.left <= 2 || both.bottom - both.top <= 5 || one.element === other.element) continue
      if (around(one.element).layer !== around(other.element).layer) continue
      faults.add(`one over the other: ${short(one.text)} | ${short(other.text)}`)
    }
  }
}

function findStrayCells(root, faults) {
  for (const row of root.querySelectorAll('tr, [role=row]')) {
    if (isUnseen(row)) continue
    const { top, bottom } = row.getBoundingClientRect()
    for (const cell of row.children) {
      const box = cell.getBoundingClientRect()
      const isStray = isThere(box) && (box.top < top - 1 || box.bottom > bottom + 1)
      if (isStray) faults.add(`a cell outside its row: ${short(cell.textContent)}`)
    }
  }
  // On a desk a table has the room that it needs.
  for (const region of root.querySelectorAll('[role=region]:has(> table)')) {
    const lack = region.scrollWidth - region.clientWidth
    if (innerWidth >= 1_366 && lack > 1) faults.add(`a table lacks ${lack} px: ${region.getAttribute('aria-label')}`)
  }
}

// What is chosen, or what a field asks for, is read in whole.
function findNarrowFields(root, faults) {
  const pen = document.createElement('canvas').getContext('2d')
  const textOf = (field) =>
    field instanceof HTMLSelectElement
      ? (field.selectedOptions[0]?.text ?? '')
      : field.value === ''
        ? field.placeholder
        : ''
  for (const field of root.querySelectorAll('input[placeholder], select')) {
    if (isUnseen(field) || field.type === 'number') continue
    const style = getComputedStyle(field)
    pen.font = style.font
    const arrow = field instanceof HTMLSelectElement ? 16 : 0
    const padding = Number.parseFloat(style.paddingLeft) + Number.parseFloat(style.paddingRight)
    const isNarrow = pen.measureText(textOf(field)).width > field.clientWidth - padding - arrow + 1
    if (isNarrow && field.title === '') faults.add(`a field too narrow for: ${short(textOf(field))}`)
  }
}

export function layoutFaults() {
  const faults = new Set()
  const wide = document.documentElement.scrollWidth - innerWidth
  if (wide > 0) faults.add(`the page is ${wide} px too wide`)
  const root = document.querySelector('[role=dialog]') ?? document.body
  findOverlaps(textsIn(root, faults), faults)
  findStrayCells(root, faults)
  findNarrowFields(root, faults)
  return [...faults]
}
