import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { LowBalanceForm } from '../features/accounts/low-balance-form.tsx'
import { accountQuery } from '../lib/accounts.ts'
import { path } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { useCanWrite } from '../lib/session.ts'
import { LimitsList } from '../parts/limits-list.tsx'
import { People, peopleOf } from '../parts/people.tsx'
import { Programs } from '../parts/programs.tsx'
import { Segments } from '../ui/field.tsx'
import { Facts, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'
import { Id, Status } from '../ui/text.tsx'

export function SettingsPage() {
  const t = useT()
  const canWrite = useCanWrite()
  const { account } = useParams({ from: '/inside/a/$account/settings' })
  const asked = useSearch({ from: '/inside/a/$account/settings' }).tab
  const navigate = useNavigate({ from: '/a/$account/settings' })
  // Users who can only view cannot invite anybody.
  const tabs = canWrite ? (['members', 'programs', 'limits'] as const) : (['limits'] as const)
  const tab = tabs.find((one) => one === asked) ?? tabs[0]
  return (
    <>
      <PageHead title={t('nav.settings')}>
        <Segments
          name={t('nav.settings')}
          value={tab}
          choices={tabs.map((value) => ({ value, label: t(`settings.${value}`) }))}
          onChoose={(value) => void navigate({ search: { tab: value } })}
        />
      </PageHead>
      {tab === 'members' && (
        <People base={peopleOf(account)} roles={['member', 'owner']} title={t('settings.members')} />
      )}
      {tab === 'programs' && <Programs base={path`accounts/${account}/management-keys`} />}
      {tab === 'limits' && <AccountFacts id={account} />}
    </>
  )
}

function AccountFacts({ id }: { readonly id: string }) {
  const t = useT()
  const { data: account, error, refetch } = useQuery(accountQuery(id))
  if (error) return <Failure error={error} onRetry={refetch} />
  if (!account) return <Waiting />
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title={t('shell.account')}>
        <Facts
          rows={[
            [t('column.name'), account.name],
            [t('column.id'), <Id key="id" id={account.id} isShort={false} />],
            [
              t('column.status'),
              <Status key="status" tone={account.status === 'active' ? 'good' : 'bad'}>
                {t(`account.${account.status}`)}
              </Status>,
            ],
            [t('keys.models'), account.models?.join(', ') ?? t('modelChoice.all')],
          ]}
        />
      </Panel>
      <Panel title={t('limit.title')}>
        <LimitsList limits={account.limits} />
        <p className="mt-3 text-xs text-soft">{t('settings.limitsHint')}</p>
      </Panel>
      <Panel title={t('low.title')}>
        <LowBalanceForm key={account.id} account={account} />
      </Panel>
    </div>
  )
}
