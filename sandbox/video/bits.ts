/** Writes bits in the order of H.264: the highest bit of a value first. */
export class Bits {
  #bytes = new Uint8Array(1_024)
  #length = 0
  #held = 0
  #heldBits = 0

  /** Writes a value of at most 24 bits. */
  put(value: number, width: number): void {
    this.#held = (this.#held << width) | value
    this.#heldBits += width
    while (this.#heldBits >= 8) {
      this.#heldBits -= 8
      this.#append(this.#held >>> this.#heldBits)
      this.#held &= (1 << this.#heldBits) - 1
    }
  }

  /** Writes a value below 2^24 as exponential Golomb code. */
  putCount(value: number): void {
    const width = 32 - Math.clz32(value + 1)
    this.put(0, width - 1)
    this.put(value + 1, width)
  }

  putSigned(value: number): void {
    this.putCount(value > 0 ? 2 * value - 1 : -2 * value)
  }

  /** Ends with a one and zeros to the end of the byte. Returns the bytes and starts anew. */
  end(): Uint8Array {
    this.put(1, 1)
    this.put(0, (8 - this.#heldBits) % 8)
    const bytes = this.#bytes.slice(0, this.#length)
    this.#length = 0
    return bytes
  }

  #append(byte: number): void {
    if (this.#length === this.#bytes.length) {
      const longer = new Uint8Array(2 * this.#length)
      longer.set(this.#bytes)
      this.#bytes = longer
    }
    this.#bytes[this.#length] = byte
    this.#length += 1
  }
}

/**
 * A network abstraction layer unit. No three bytes in it look like a start code, which is 00 00 and a byte up to 03.
 * `lead` is its first byte, with importance and type.
 */
export function unitOf(lead: number, payload: Uint8Array): Uint8Array {
  const unit = new Uint8Array(1 + Math.ceil(payload.length * 1.5))
  unit[0] = lead
  let length = 1
  let zeros = 0
  for (const byte of payload) {
    if (zeros === 2 && byte <= 3) {
      unit[length] = 3
      length += 1
      zeros = 0
    }
    unit[length] = byte
    length += 1
    zeros = byte === 0 ? zeros + 1 : 0
  }
  return unit.slice(0, length)
}
