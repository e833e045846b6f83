import {
  definedFields,
  type Envelope,
  type FamilyName,
  type Fields,
  type HandlerClass,
  type PayloadOf,
} from 'sluice-kernel/internal';
import {
  definedRecordOf,
  type FieldTable,
  payloadFields,
  principalIn,
} from '../facts/field-table.js';
import { refsOf } from '../facts/refs.js';
import type { Coverage, HookPart, LegacyHookKind, LegacyHookRow } from './row.js';

/** The event and the context of a hook as tables over the payload of its family. */
interface Shape<Event, Context, Payload> {
  readonly event: FieldTable<Event, Payload>;
  /** If both have a value for a field of the payload, that of the event counts. */
  readonly context: FieldTable<Context, Payload>;
  /** The fields of the payload that no single field of the event says. */
  adds?(event: Event, ctx: Context): Partial<Payload>;
}

type Ways<Event, Context> = Pick<LegacyHookRow<Event, Context>, 'announce' | 'view'>;

/** The columns of a row that the makers do not fill in. The parts are of the row's family if they name no other. */
type Columns<Family extends FamilyName, Event, Context> = Pick<
  LegacyHookRow<Event, Context>,
  | 'why'
  | 'merge'
  | 'instead'
  | 'result'
  | 'band'
  | 'oncePerRun'
  | 'honoursInPlace'
  | 'timeoutMs'
  | 'isClosed'
  | 'copies'
  | 'tellsInvocation'
  | 'ends'
  | 'decisionOf'
> & {
  readonly parts: readonly (Partial<HookPart> & Pick<HookPart, 'class'>)[];
  /** As `wants` of a row, asked with the payload. */
  readonly tells?: (payload: PayloadOf<Family>) => boolean;
};

type Told<Family extends FamilyName, Event, Context> =
  | Shape<Event, Context, PayloadOf<Family>>
  | Ways<Event, Context>;

export const coverageOf: Readonly<Record<HandlerClass, Coverage>> = {
  observer: 'observe',
  augmenter: 'observe',
  mutator: 'mutate',
  veto: 'veto',
  resolver: 'resolve',
};

/** The event and context of a hook as a dispatch of a family, and back. */
export function waysOf<Family extends FamilyName>(family: Family) {
  return <Event extends object, Context extends object>(
    shape: Shape<Event, Context, PayloadOf<Family>>,
  ): Ways<Event, Context> => ({
    announce: (event, ctx) => {
      const told = { ...shape.adds?.(event, ctx), ...payloadFields(shape.context, ctx) };
      const payload = { ...told, ...payloadFields(shape.event, event) };
      const given = { ...refsOf(payload), ...principalIn(shape.context, ctx) };
      return [{ family, payload, given }];
    },
    view: (envelope, principal) => ({
      event: definedRecordOf(shape.event, envelope.payload, envelope),
      ctx: definedRecordOf(shape.context, envelope.payload, envelope, principal),
    }),
  });
}

function rowOf<Family extends FamilyName, Event extends object, Context extends object>(
  family: Family,
  { tells, ...row }: Columns<Family, Event, Context> & Told<Family, Event, Context>,
) {
  const parts = row.parts.map((part) => ({ family, ...part }));
  const coverage = [...new Set(parts.map((part) => coverageOf[part.class]))];
  const ways = 'announce' in row ? row : waysOf(family)(row);
  const wants = tells && (({ payload }: Envelope) => tells(payload as PayloadOf<Family>)); // asked of this family alone
  return {
    status: 'bridged' as const,
    coverage,
    ...row,
    ...ways,
    parts,
    ...definedFields({ wants }),
  };
}

/** Makes the row of a hook that only watches. */
export function voidHook<Family extends FamilyName>(family: Family) {
  return <Event extends object, Context extends object>(
    row: Told<Family, Event, Context> &
      Pick<Columns<Family, Event, Context>, 'why' | 'tells'> &
      Partial<Columns<Family, Event, Context>>,
  ): LegacyHookRow<Event, Context, undefined, 'void'> => ({
    kind: 'void',
    ...rowOf<Family, Event, Context>(family, {
      parts: [{ class: 'observer' }],
      merge: 'none: nothing is returned',
      instead: 'nothing: this hook only observes',
      result: () => undefined,
      ...row,
    }),
  });
}

function maker<Kind extends LegacyHookKind>(
  kind: Kind,
  usual: Partial<Pick<LegacyHookRow, 'ends' | 'chains'>> = {},
) {
  return <Family extends FamilyName>(family: Family) =>
    <Event extends object, Context extends object, Result>(
      row: Columns<Family, Event, Context> & Told<Family, Event, Context>,
    ): LegacyHookRow<Event, Context, Result, Kind> => ({ kind, ...usual, ...rowOf(family, row) });
}

/** Makes the row of a hook whose handlers change something, or refuse it. */
export const modifyingHook = maker('modifying');

/** Makes the row of a hook whose first handler that says `handled` acts in place of the host. */
export const claimingHook = maker('claim', {
  ends: (answer) => ((Object(answer) as Fields)['handled'] ? 'claim' : undefined),
});

/** Makes the row of a synchronous hook. Each handler gets the message that the one before it left. */
export const syncHook = maker('sync', { chains: ({ message }) => ({ message }) });
