const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `32 MiB`, `1.5 GiB`: sizes as memory and disks are counted. */
export function bytes(size: number): string {
  const at = size < 1 ? 0 : Math.min(Math.floor(Math.log2(size) / 10), units.length - 1)
  return `${Math.round((size / 1_024 ** at) * 10) / 10} ${units[at]}`
}
