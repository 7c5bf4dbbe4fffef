/** The prices of a model or an offer, per million tokens of each kind and per piece. */
import { useT, type Key } from '../../lib/language.ts'
import type { ModelKind } from '../../lib/models.ts'
import { DollarField } from '../../parts/dollar-field.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { pieceUnitsOf, type PieceDraft, type PriceDraft } from './price-draft.ts'
import { TierFields } from './tier-fields.tsx'
import { TokenFields } from './token-fields.tsx'

type Props = {
  readonly draft: PriceDraft
  readonly kind: ModelKind
  readonly onChange: (draft: PriceDraft) => void
  /** Whether a price is required. */
  readonly isRequired: boolean
}

export function PriceFields({ draft, kind, onChange, isRequired }: Props) {
  const t = useT()
  const { tokens, pieces } = draft
  const setPiece = (at: number, change: Partial<PieceDraft>): void =>
    onChange({ ...draft, pieces: pieces.map((piece, other) => (other === at ? { ...piece, ...change } : piece)) })
  // The console may not know the pieces of a kind. Their name is then typed.
  const [unit] = pieceUnitsOf(kind) ?? ['']
  return (
    <div className="space-y-3">
      <TokenFields
        tokens={tokens}
        kind={kind}
        isRequired={isRequired && unit === undefined}
        onChange={(changed) => onChange({ ...draft, tokens: changed })}
      />
      {pieces.map((piece, at) => (
        <Piece
          key={at}
          piece={piece}
          kind={kind}
          onChange={(change) => setPiece(at, change)}
          onRemove={() => onChange({ ...draft, pieces: pieces.filter((_, other) => other !== at) })}
        />
      ))}
      {unit !== undefined && (
        <Button
          icon="plus"
          onClick={() => onChange({ ...draft, pieces: [...pieces, { unit, size: '', rest: '', price: '' }] })}
        >
          {t('routing.addPiece')}
        </Button>
      )}
      {(kind === 'text' || draft.tiers.length > 0) && (
        <TierFields tiers={draft.tiers} kind={kind} onChange={(tiers) => onChange({ ...draft, tiers })} />
      )}
    </div>
  )
}

type PieceProps = {
  readonly piece: PieceDraft
  readonly kind: ModelKind
  readonly onChange: (change: Partial<PieceDraft>) => void
  readonly onRemove: () => void
}

function Piece({ piece, kind, onChange, onRemove }: PieceProps) {
  const t = useT()
  const known = pieceUnitsOf(kind)
  return (
    <div className="flex items-end gap-2">
      <div className="grid min-w-0 grow grid-cols-2 gap-3 sm:grid-cols-4">
        {known ? (
          <KnownPiece piece={piece} kind={kind} known={known} onChange={onChange} />
        ) : (
          <TextField
            label={t('routing.piece')}
            pattern="[\w.\-]+"
            value={piece.unit}
            onChange={(event) => onChange({ unit: event.target.value })}
            required
          />
        )}
        <DollarField label={t('routing.each')} value={piece.price} onType={(price) => onChange({ price })} required />
      </div>
      <IconButton icon="cross" label={t('routing.removePiece')} onClick={onRemove} className="mb-0.5" />
    </div>
  )
}

type KnownPieceProps = Omit<PieceProps, 'onRemove'> & { readonly known: readonly string[] }

function KnownPiece({ piece, kind, known, onChange }: KnownPieceProps) {
  const t = useT()
  const units = known.includes(piece.unit) ? known : [...known, piece.unit]
  return (
    <>
      <SelectField
        label={t('routing.piece')}
        value={piece.unit}
        choices={units.map((value) => ({
          value,
          label: known.includes(value) ? t(`routing.unit.${value}` as Key) : value,
        }))}
        onChoose={(unit) => onChange({ unit })}
      />
      <TextField
        label={t(kind === 'image' ? 'play.size' : 'play.resolution')}
        placeholder={kind === 'image' ? '1024x1024' : '720p'}
        pattern="[\w.\-]*"
        value={piece.size}
        onChange={(event) => onChange({ size: event.target.value })}
      />
      <TextField
        label={t(kind === 'image' ? 'play.quality' : 'routing.variant')}
        placeholder={kind === 'image' ? 'high' : 'silent'}
        pattern="[\w.\-]*(/[\w.\-]+)*"
        value={piece.rest}
        onChange={(event) => onChange({ rest: event.target.value })}
      />
    </>
  )
}
