const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `32 MiB`, `1.5 GiB`: sizes as memory and disks are counted. */
export function bytes(size: number): string {
  // What rounds to 1,024 of a unit is one of the next.
  const at = units.findIndex((_, i) => i === units.length - 1 || inTenths(size / 1_024 ** i) < 1_024)
  return `${inTenths(size / 1_024 ** at)} ${units[at]}`
}

const inTenths = (size: number): number => Math.round(size * 10) / 10
