/** The sandbox's signature of its thoughts. It reveals changed and invented thoughts. */
const seal = (text: string): string => new Bun.CryptoHasher('sha256', 'sandbox').update(text).digest('base64')

export const sandboxSignature = (thinking: string): string => `sandbox:${seal(thinking)}`

export const isSigned = ({ thinking, signature }: { thinking: string; signature: string }): boolean =>
  signature === sandboxSignature(thinking)

/** A hidden thought, represented by its seed. */
export const redactedData = (seed: number): string => `${seed}.${seal(String(seed))}`

export const isRedactedData = (data: string): boolean => data === redactedData(Number(data.split('.')[0]))
