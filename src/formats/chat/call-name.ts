/**
 * The name of a call with a further piece of it. The format lets a name come in pieces, and its SDKs join them; some
 * servers say the whole name in every chunk instead.
 */
export const longerName = (name: string, piece: string): string => (piece === name ? name : name + piece)
