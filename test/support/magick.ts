/** ImageMagick, if it is installed: a decoder that shares no code with the tested one. */
const program = Bun.which('magick') ?? Bun.which('identify')

export const hasMagick = program !== null

/** `PNG 1024x1024`, having decoded every pixel. Throws where it is none. */
export function identify(file: Uint8Array): string {
  if (!program) throw new Error('ImageMagick is not installed')
  const args = program.endsWith('magick') ? ['identify'] : []
  const command = [program, ...args, '-regard-warnings', '-format', '%m %wx%h %[mean]', '-']
  const { success, stdout, stderr } = Bun.spawnSync(command, { stdin: file })
  if (!success || stderr.length > 0) throw new Error(stderr.toString())
  return stdout.toString().split(' ').slice(0, 2).join(' ')
}
