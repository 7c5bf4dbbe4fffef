/**
 * Adds a piece to a call's name. The format lets a name come in pieces, and its SDKs join them. Some servers send the
 * whole name in every chunk instead.
 */
export const longerName = (name: string, piece: string): string => (piece === name ? name : name + piece)
