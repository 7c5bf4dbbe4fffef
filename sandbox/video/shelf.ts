import { shoot, type Film } from './film.ts'
import { MIB } from '../../src/lib/primitives/units.ts'

const BYTES_MAX = 16 * MIB

/** A cache of the last requested films, so that repeated requests make a film only once. */
export class Shelf {
  readonly #files = new Map<string, Uint8Array<ArrayBuffer>>()
  readonly #making = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  #last: Promise<unknown> = Promise.resolve()
  readonly #bytesMax: number
  #bytes = 0
  #shot = 0

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  async fetch(film: Film): Promise<Uint8Array<ArrayBuffer>> {
    const name = JSON.stringify(film)
    const file = this.#files.get(name)
    if (!file) return this.#make(name, film)
    this.#files.delete(name)
    this.#files.set(name, file)
    return file
  }

  report(): object {
    return { shot: this.#shot, kept: this.#files.size, bytes_kept: this.#bytes }
  }

  /** Makes films in sequence. In parallel they would be no faster and take more memory. */
  #make(name: string, film: Film): Promise<Uint8Array<ArrayBuffer>> {
    const underWay = this.#making.get(name)
    if (underWay) return underWay
    const making = this.#last.then(async () => {
      const file = await shoot(film)
      this.#shot += 1
      this.#making.delete(name)
      this.#keep(name, file)
      return file
    })
    this.#making.set(name, making)
    this.#last = making
    return making
  }

  #keep(name: string, file: Uint8Array<ArrayBuffer>): void {
    this.#files.set(name, file)
    this.#bytes += file.length
    for (const [oldest, { length }] of this.#files) {
      if (this.#bytes <= this.#bytesMax) return
      this.#files.delete(oldest)
      this.#bytes -= length
    }
  }
}
