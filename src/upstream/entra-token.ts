/**
 * Azure: an application of Microsoft Entra exchanges its secret for a one-hour token.
 * https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow, read on 2026-11-26.
 */
import { exchangeForm, fieldsOf, credentialRefused, type Exchange } from './access-tokens.ts'

const AUTHORITY = 'https://login.microsoftonline.com'
/** https://learn.microsoft.com/en-us/azure/ai-foundry/openai/how-to/managed-identity, read on 2026-11-26. */
const SCOPE = 'https://cognitiveservices.azure.com/.default'

/** Names as in Azure's variables, or as `az ad sp create-for-rbac` prints them. */
export const exchangeWithEntra: Exchange = async (provider) => {
  const fields = fieldsOf(provider.secret ?? '')
  const textOf = (...names: readonly string[]): string | undefined =>
    names.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '') as string | undefined
  const tenant = textOf('tenant_id', 'tenant')
  const client = textOf('client_id', 'appId')
  const secret = textOf('client_secret', 'password')
  if (tenant === undefined || client === undefined || secret === undefined) {
    return credentialRefused('the credential is JSON without tenant_id, client_id and client_secret')
  }
  const url = textOf('token_uri') ?? `${AUTHORITY}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`
  const scope = textOf('scope') ?? SCOPE
  const form = { grant_type: 'client_credentials', client_id: client, client_secret: secret, scope }
  return exchangeForm(url, form, provider)
}
