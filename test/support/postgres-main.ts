// Starts a PostgreSQL for all files of a test run and prints its address. It stops when its input ends.
import { PostgresServer } from './postgres-server.ts'

const server = await PostgresServer.create(['max_connections=300'])
process.stdout.write(`${server.url()}\n`)
for await (const _ of Bun.stdin.stream());
await server.close()
process.exit()
