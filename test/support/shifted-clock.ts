/** Loaded before a gateway. It shifts the clock by a number of milliseconds. */
const shiftMs = Number(process.env['TEST_CLOCK_SHIFT_MS'] ?? 0)
const Real = Date

globalThis.Date = class extends Real {
  constructor(...parts: readonly unknown[]) {
    if (parts.length === 0) super(Real.now() + shiftMs)
    else super(...(parts as ConstructorParameters<typeof Real>))
  }
  static override now(): number {
    return Real.now() + shiftMs
  }
} as DateConstructor
