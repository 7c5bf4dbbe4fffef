/** The file that Bun runs: the built program, or the sources if it is missing or older than they are. */
export function programFile(root: string): string
