import { definedFields, type Envelope, type Fields } from 'sluice-kernel/internal';
import { coverageOf } from '../hooks/make-row.js';
import type {
  Ending,
  HookPart,
  LegacyHookKind,
  LegacyHookRow,
  LegacyView,
  QueuedInjections,
} from '../hooks/row.js';

/** A result of the runner: the fields of a merge, if somebody answered or the pipeline has one to give. */
export function merged({ answers }: Ending, fields: Fields): Fields | undefined {
  const given = definedFields(fields);
  return answers.length === 0 && Object.keys(given).length === 0 ? undefined : given;
}

/** An answer's fields, whatever it is. */
export const fieldsOf = (answer: unknown): Fields => Object(answer) as Fields; // from outside: each field is checked

/** A row whose context names the run, too. */
export function inRun<
  Event extends object,
  Context extends object,
  Result,
  Kind extends LegacyHookKind,
>(
  row: LegacyHookRow<Event, Context, Result, Kind>,
): LegacyHookRow<Event, Context & { runId?: string }, Result, Kind> {
  return {
    ...row,
    announce: (event, ctx) =>
      row.announce(event, ctx).map((one) => ({
        ...one,
        payload: { ...definedFields({ runId: ctx.runId }), ...one.payload },
      })),
    view: (envelope, principal) => {
      const { runId } = envelope.payload as { readonly runId?: string };
      const { event, ctx } = row.view(envelope, principal);
      return { event, ctx: { ...ctx, ...definedFields({ runId }) } };
    },
  };
}

/** The columns of a hook that no legacy runner calls. */
type HostedColumns<Kind> = Pick<LegacyHookRow, 'why' | 'merge'> &
  Partial<Pick<LegacyHookRow, 'timeoutMs' | 'copies' | 'chains' | 'ends' | 'wants' | 'instead'>> & {
    readonly kind: Kind;
    readonly parts?: readonly HookPart[];
    readonly view?: (envelope: Envelope, queued: QueuedInjections) => LegacyView;
  };

/** Makes the row of a hook that has no stage of its own: its handlers are on the stage of the same moment, or are not called. */
export function hostedHook<Event extends object, Context extends object, Result = undefined>() {
  return <Kind extends LegacyHookKind>(
    columns: HostedColumns<Kind>,
  ): LegacyHookRow<Event, Context, Result, Kind> & { readonly isHosted: true } => {
    const { parts = [], view, ...row } = columns;
    return {
      status: parts.length === 0 ? 'retired' : 'bridged',
      coverage: [...new Set(parts.map((part) => coverageOf[part.class]))],
      isHosted: true,
      instead: 'its result',
      ...row,
      parts,
      announce: () => [],
      // a row with parts says how its handlers see them
      view: (envelope, _, queued = () => []) =>
        (view?.(envelope, queued) ?? { event: {}, ctx: {} }) as LegacyView<Event, Context>,
      result: () => undefined,
    };
  };
}
