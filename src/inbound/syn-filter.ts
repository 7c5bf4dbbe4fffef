/**
 * Closing a port resets the connections that wait in its backlog. Eight clients that connect for each request met that
 * in one of three closes. On Linux, this filter first drops the packets that ask for a connection (SYN). The server can
 * then accept the backlog and close the port without a loss. A client whose packet was dropped sends it again after a
 * second. It then reaches the next process, or is told that the port is closed.
 */

const SOL_SOCKET = 1
const SO_ATTACH_FILTER = 26
const FLAGS_AT = 13
const SYN = 0x02
const SYN_OR_ACK = 0x12
const DROP = 0
const KEEP = 0xffff_ffff

/** Classic BPF on the TCP header, as of linux/filter.h: code, jump if true, jump if false, operand. */
const program = [
  [0x30, 0, 0, FLAGS_AT],
  [0x54, 0, 0, SYN_OR_ACK],
  [0x15, 0, 1, SYN],
  [0x06, 0, 0, DROP],
  [0x06, 0, 0, KEEP],
] as const
const INSTRUCTION_BYTES = 8

/** Drops further requests for a connection to a listening socket. False if this system cannot do that. */
export async function dropSyns(fd: number): Promise<boolean> {
  if (process.platform !== 'linux') return false
  try {
    const { dlopen, ptr } = await import('bun:ffi')
    const libc = dlopen('libc.so.6', {
      setsockopt: { args: ['int', 'int', 'int', 'ptr', 'u32'], returns: 'int' },
    })
    const filter = Buffer.alloc(program.length * INSTRUCTION_BYTES)
    for (const [i, [code, whenTrue, whenFalse, operand]] of program.entries()) {
      filter.writeUInt16LE(code, i * INSTRUCTION_BYTES)
      filter.writeUInt8(whenTrue, i * INSTRUCTION_BYTES + 2)
      filter.writeUInt8(whenFalse, i * INSTRUCTION_BYTES + 3)
      filter.writeUInt32LE(operand, i * INSTRUCTION_BYTES + 4)
    }
    // A `sock_fprog`: the number of instructions, padding, and their address.
    const option = Buffer.alloc(16)
    option.writeUInt16LE(program.length, 0)
    option.writeBigUInt64LE(BigInt(ptr(filter)), 8)
    const isSet = libc.symbols.setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, option, option.length) === 0
    libc.close()
    return isSet
  } catch {
    return false // Another C library, or a system that does not allow compiling.
  }
}
