const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `32 MiB`, `1.5 GiB`: sizes in binary units. */
export function bytes(size: number): string {
  // 1,024 of a unit are shown as one of the next unit.
  const at = units.findIndex((_, i) => i === units.length - 1 || inTenths(size / 1_024 ** i) < 1_024)
  return `${inTenths(size / 1_024 ** at)} ${units[at]}`
}

const inTenths = (size: number): number => Math.round(size * 10) / 10
