import { openS3Port } from '../../test/support/s3-port.ts'
import { onPostgres } from '../store/postgres-contract.ts'
import { describeBlobsContract } from './blobs-contract.ts'

describeBlobsContract('S3', () => openS3Port())
describeBlobsContract('S3, with rows in PostgreSQL', () => openS3Port({}, onPostgres))
