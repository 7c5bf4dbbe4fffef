import type { AdaptedStream } from '../formats/core/contract.ts'

/**
 * A stream of bytes. They pass unchanged, so nothing of them is read. Bytes have no place for a terminator or an error:
 * the end of the message is the end, and a message that breaks off is the error.
 */
export class BytesStream implements AdaptedStream {
  readonly usage = undefined
  readonly produced = ''
  readonly finished = false

  read(): never {
    throw new Error('bytes are not read')
  }

  end(): string {
    return ''
  }

  fail(): string {
    return ''
  }
}
