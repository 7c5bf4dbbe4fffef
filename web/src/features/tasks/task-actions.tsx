/** The actions of a task, as far as the public API supports them. */
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Task } from '../../lib/api-types.gen.ts'
import { callGateway } from '../../lib/gateway.ts'
import { useT } from '../../lib/language.ts'
import { shortId } from '../../lib/ids.ts'
import { useToken } from '../../lib/play-token.ts'
import { useCanWrite } from '../../lib/session.ts'
import { forget } from '../../lib/started.ts'
import { isOpen, hasFile } from '../../lib/tasks.ts'
import { wantedAgain } from '../../lib/video-wanted.ts'
import { videoAddress } from '../../parts/player.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { Failure } from '../../ui/page.tsx'
import { useCopy } from '../../ui/text.tsx'

type Props = { readonly account: string; readonly task: Task; readonly onDelete: () => void }

const canDelete = (task: Task): boolean => task.kind === 'video' && !isOpen(task)

export function TaskActions({ account, task, onDelete }: Props) {
  const t = useT()
  const navigate = useNavigate()
  const canWrite = useCanWrite()
  const { isCopied, copy } = useCopy()
  const again = (): void =>
    void navigate({
      to: '/a/$account/playground',
      params: { account },
      search: { kind: task.kind, model: task.model, ...(task.wish && { wish: wantedAgain(task.wish) }) },
    })
  const useful: readonly MenuItem[] = [
    ...(canWrite ? [{ label: t('tasks.again'), icon: 'play', onPick: again } as const] : []),
    ...(hasFile(task) ? [{ label: t('task.download'), icon: 'download', onPick: () => download(task) } as const] : []),
    { label: t('tasks.copyId'), icon: 'copy', onPick: () => void copy(task.id) },
  ]
  const grave: readonly MenuItem[] =
    canWrite && canDelete(task) ? [{ label: t('tasks.delete'), icon: 'cross', kind: 'danger', onPick: onDelete }] : []
  return (
    <>
      <Menu
        trigger={<IconButton icon="more" label={t('tasks.actions', { id: shortId(task.id) })} />}
        groups={grave.length > 0 ? [useful, grave] : [useful]}
      />
      <span aria-live="polite" className="sr-only">
        {isCopied ? t('copied') : ''}
      </span>
    </>
  )
}

function download(task: Task): void {
  const link = document.createElement('a')
  Object.assign(link, { href: videoAddress(task.id), download: `${task.id}.mp4` })
  link.click()
}

type DeleteProps = { readonly account: string; readonly task: Task | undefined; readonly onClose: () => void }

export function DeleteTask({ account, task, onClose }: DeleteProps) {
  const t = useT()
  const token = useToken(account)
  const deleting = useMutation({
    mutationFn: async ({ id, request }: Task) => {
      await callGateway(token, `videos/${encodeURIComponent(id)}`, { method: 'DELETE' })
      forget((one) => one.request === request)
    },
    onSuccess: onClose,
  })
  return (
    <Dialog
      open={task !== undefined}
      onClose={onClose}
      title={t('tasks.deleteTitle')}
      description={t('tasks.deleteHint')}
    >
      {task && <p className="font-mono text-xs break-all">{task.id}</p>}
      {deleting.error && <Failure error={deleting.error} />}
      <DialogButtons>
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button kind="danger" busy={deleting.isPending} onClick={() => task && deleting.mutate(task)}>
          {t('tasks.delete')}
        </Button>
      </DialogButtons>
    </Dialog>
  )
}
