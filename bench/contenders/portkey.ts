/** Portkey's gateway (npm, MIT), without the keys, money and records that Tollgate has. */
import { join } from 'node:path'
import { runToEnd, type Contender } from '../contender.ts'

const VERSION = '1.15.2'

/** It listens on every address and has no setting for that. */
const preload = `const { Server } = require('node:net')
const { listen } = Server.prototype
Server.prototype.listen = function (port, ...rest) {
  const [callback] = rest.filter((argument) => typeof argument === 'function')
  return listen.call(this, typeof port === 'object' ? { ...port, host: '127.0.0.1' } : { port, host: '127.0.0.1' }, callback)
}
`

export const portkey: Contender = {
  name: 'portkey',
  install: (folder) =>
    runToEnd(
      ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder].concat(
        `@portkey-ai/gateway@${VERSION}`,
      ),
      folder,
    ),
  command: ({ folder, port }) => [
    Bun.which('node') ?? 'node',
    '--require',
    join(folder, 'loopback.cjs'),
    join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js'),
    `--port=${port}`,
    '--headless',
  ],
  files: () => ({ 'loopback.cjs': preload }),
  env: () => ({ NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' }),
  basePath: '/v1',
  needsWarmUp: true,
  effort: 0.2,
  prepare: async ({ upstreamPort }) => ({
    authorization: 'Bearer vendor-secret',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  }),
}
