/** The sandbox's own seal on its thoughts: whoever sends one back changed, or makes one up, is found out. */
const seal = (text: string): string => new Bun.CryptoHasher('sha256', 'sandbox').update(text).digest('base64')

export const sandboxSignature = (thinking: string): string => `sandbox:${seal(thinking)}`

export const isSigned = ({ thinking, signature }: { thinking: string; signature: string }): boolean =>
  signature === sandboxSignature(thinking)

/** A thought that is not shown: its seed stands for it. */
export const redactedData = (seed: number): string => `${seed}.${seal(String(seed))}`

export const isRedactedData = (data: string): boolean => data === redactedData(Number(data.split('.')[0]))
