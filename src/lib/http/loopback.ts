/** A host that only this machine can reach, as an address to listen on. */
export const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/
