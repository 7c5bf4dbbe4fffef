import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Answers } from '../lib/api-types.gen.ts'
import { api } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { useMe } from '../lib/session.ts'
import { People } from '../parts/people.tsx'
import { Programs } from '../parts/programs.tsx'
import { SettingsList } from '../parts/settings-list.tsx'
import { Segments } from '../ui/field.tsx'
import { Facts, Failure, Note, PageHead, Panel, Waiting } from '../ui/page.tsx'

const tabs = ['people', 'programs', 'server'] as const

export function OperatorSettingsPage() {
  const t = useT()
  const asked = useSearch({ from: '/inside/operator/settings' }).tab
  const navigate = useNavigate({ from: '/operator/settings' })
  const tab = tabs.find((one) => one === asked) ?? 'people'
  return (
    <>
      <PageHead title={t('nav.gateway')}>
        <Segments
          name={t('nav.gateway')}
          value={tab}
          choices={tabs.map((value) => ({ value, label: t(`gateway.${value}`) }))}
          onChoose={(value) => void navigate({ search: { tab: value } })}
        />
      </PageHead>
      {tab === 'people' && <People base="users" roles={['operator']} title={t('gateway.people')} />}
      {tab === 'programs' && <Programs base="management-keys" />}
      {tab === 'server' && <Server />}
    </>
  )
}

function Server() {
  const t = useT()
  const { version, public_url: publicUrl } = useMe()
  const { data, error, refetch } = useQuery({
    queryKey: ['settings'],
    queryFn: () => api.get<Answers['GET /settings']>('settings'),
  })
  if (error) return <Failure error={error} onRetry={refetch} />
  if (!data) return <Waiting />
  // Shown above the list, with a text for when it is not set.
  const { public_url: _, ...settings } = data.settings
  return (
    <div className="space-y-4">
      <Note>{t('gateway.declared')}</Note>
      <Panel>
        <Facts
          rows={[
            [t('gateway.version'), version],
            [t('gateway.url'), publicUrl ?? t('gateway.noUrl')],
          ]}
          isEven
        />
        <div className="mt-1.5">
          <SettingsList settings={settings} />
        </div>
      </Panel>
    </div>
  )
}
