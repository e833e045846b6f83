import type { AsyncFamily, Call, PayloadOf } from 'sluice-kernel';
import type { Field } from '../facts/field-table.js';
import type { Announcement } from '../facts/legacy-bus.js';
import type { InternalHookEvent, InternalHookType } from './event.js';

/** The content of an event beyond its type and action. */
export type InternalHookContent = Pick<InternalHookEvent, 'sessionKey' | 'context'>;

/** The family in which the handlers of a key take part, and their event there. */
export interface InternalHookSink {
  readonly family: AsyncFamily;
  /** Observers where handlers only watch; augmenters where their messages are replies; mutators of bootstrapFiles. */
  readonly class: 'observer' | 'augmenter' | 'mutator';
  /** The event of a dispatch that another made, or nothing if the legacy system would fire none. */
  content(call: Call): InternalHookContent | undefined;
}

/** One key of the internal hook bus, and its place in the pipeline. */
export interface InternalHookRow {
  readonly type: InternalHookType;
  readonly action: string;
  /** The legacy caller waits for the handlers. If it does not, they delay no dispatch either. */
  readonly awaited: boolean;
  /**
   * The canonical dispatches that a trigger becomes, one after the other. Absent if it becomes none: its handlers
   * then get the event by themselves.
   */
  readonly source?: (event: InternalHookEvent) => readonly Announcement[];
  readonly sinks: readonly InternalHookSink[];
  /** In a legacy host its handlers get the event of this bus only: what another bus announces says too little. */
  readonly ownEventOnly?: true;
  /** The power of its handlers. */
  readonly coverage: 'observe' | 'reply' | 'mutate';
  readonly status: 'bridged' | 'observe-only';
  /** Notes about the key. */
  readonly why: string;
}

/** The context of a key, over the payload of its family. The legacy types of its fields are nobody's. */
export type ContextTable<Payload> = Readonly<
  Record<string, (keyof Payload & string) | Field<unknown, Payload>>
>;

const coverageOf = { observer: 'observe', augmenter: 'reply', mutator: 'mutate' } as const;

/** Makes a row. The class of its handlers says their power. */
export function hookRow({
  status = 'bridged',
  ...row
}: Omit<InternalHookRow, 'coverage' | 'status'> &
  Partial<Pick<InternalHookRow, 'status'>>): InternalHookRow {
  const [{ class: of } = { class: 'observer' as const }] = row.sinks;
  return { ...row, coverage: coverageOf[of], status };
}

/** The session key of an event, which may be empty. */
export function sessionKeyOf({ sessionKey }: InternalHookEvent) {
  return sessionKey === '' ? {} : { sessionKey };
}

/** A sink, typed by its family. */
export function sink<F extends AsyncFamily>(
  family: F,
  handlerClass: InternalHookSink['class'],
  content: (payload: PayloadOf<F>) => InternalHookContent | undefined,
): InternalHookSink {
  // A sink is only ever called from contributions to its own family.
  return {
    family,
    class: handlerClass,
    content: ({ payload }) => content(payload as PayloadOf<F>),
  };
}
