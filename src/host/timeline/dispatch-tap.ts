import { createHash } from 'node:crypto';
import type { Journal } from '@sluice/journal';
import type { Envelope, FamilyName, Outcome, Tap } from 'sluice-kernel';
import { boundedJson, secretKeys } from './bounded-json.js';

/** The parts of dispatches that are written. */
export interface DispatchTapOptions {
  /** Characters that one dispatch may take, by default 262 144. A larger one is persisted without its payloads. */
  readonly maxDispatchLength?: number;
  /** Keeps payloads of families on a hot path, too; by default not. */
  readonly hotPathPayloads?: boolean;
  /** Keeps the raw updates of providers, too; by default not. */
  readonly rawUpdates?: boolean;
  /** Names of fields whose values are never written, besides those that look like a secret's. */
  readonly redact?: readonly string[];
  /** The versions of extensions: those of the handlers that were asked are written with each dispatch. */
  readonly versions?: (extensionId: string) => string | undefined;
}

/** The text in the place of a field that is left out: of a raw update, and of configuration, which may hold anything. */
const leftOut = '[left out]';

/** Fields that hold a transcript, which is persisted once and not with each dispatch. */
const histories: ReadonlyMap<FamilyName, string> = new Map<FamilyName, string>([
  ['agent.prompt.building', 'messages'],
  ['agent.answer.resolving', 'messages'],
  ['agent.llm.calling', 'messages'],
  ['agent.llm.input', 'historyMessages'],
  ['agent.completed', 'messages'],
  ['compaction.before', 'messages'],
  ['session.resetting', 'messages'],
]);

/**
 * Makes a tap that writes each dispatch into a journal, without secrets. It costs one JSON text a dispatch.
 *
 * @example
 * const kernel = createKernel({ trace: true, tap: dispatchTap(journal) }); // with a trace, it can be explained
 */
export function dispatchTap(
  journal: Pick<Journal, 'dispatched'>,
  options: DispatchTapOptions = {},
): Required<Pick<Tap, 'outcome' | 'audit'>> {
  const { maxDispatchLength = 262_144, hotPathPayloads = false, rawUpdates = false } = options;
  const isSecret = secretKeys(options.redact);
  const { versions } = options;
  const versionsIn = ({ steps }: Outcome) => {
    const ids = new Set(steps.map(({ extensionId }) => extensionId));
    const known = [...ids].flatMap((id) => [[id, versions?.(id)] as const]);
    const named = known.filter(([, version]) => version !== undefined);
    return named.length > 0 && { versions: Object.fromEntries(named) };
  };
  const textOf = (value: unknown) => boundedJson(value, { maxLength: maxDispatchLength, isSecret });
  const keep = (payload: object, family: FamilyName): object => {
    const persisted: Record<string, unknown> = { ...payload };
    const history = histories.get(family);
    if (history !== undefined && Array.isArray(persisted[history])) persisted[history] = [];
    if (!rawUpdates && 'raw' in persisted) persisted['raw'] = leftOut;
    if ('config' in persisted) persisted['config'] = leftOut;
    return persisted;
  };
  return {
    outcome: (outcome) => {
      const { event, status } = outcome;
      const { eventId, family, correlationId, sessionId, occurredAt: occurredAtMs } = event;
      const about = { eventId, family, correlationId, sessionId, occurredAtMs, status };
      const whole =
        event.hotPath && !hotPathPayloads
          ? undefined
          : textOf({ ...bodyOf(outcome, keep), ...versionsIn(outcome) });
      if (whole !== undefined && 'json' in whole) {
        journal.dispatched({ ...about, body: whole.json });
        return;
      }
      const rest = textOf({ ...bodyOf(outcome, () => ({})), ...versionsIn(outcome) });
      const omitted = whole === undefined ? 'hot-path' : whole.problem;
      const short = { status, event: { ...about, occurredAt: occurredAtMs, payload: {} } };
      const body = 'json' in rest ? rest.json : JSON.stringify(short);
      journal.dispatched({ ...about, omitted, body });
    },
    audit: (record, event) => {
      const { eventId, family, correlationId, sessionId, occurredAt: occurredAtMs } = event;
      const persisted = textOf(record);
      const { extensionId, contributionId, pass, verdict } = record;
      const short = {
        eventId,
        family,
        extensionId,
        contributionId,
        class: record.class,
        pass,
        verdict,
      };
      journal.dispatched({
        ...{ eventId, family, correlationId, sessionId, occurredAtMs, status: 'passed' },
        omitted: 'audit',
        body: 'json' in persisted ? persisted.json : JSON.stringify(short), // without what is too long to keep
      });
    },
  };
}

/** Fields that an outcome may keep back or clean: as they were emitted they are written only if they have passed unchanged. */
const judged: ReadonlyMap<FamilyName, readonly string[]> = new Map([
  ['agent.tool.returning', ['result']],
  ['agent.llm.returning', ['text', 'thinking', 'calls']],
]);

/** The text in the place of a value that nobody may read. Its digest tells whether another value is the same. */
function digestOf(value: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(value) ?? '');
  return `${leftOut} sha256:${digest.digest('hex')}`;
}

function bodyOf(
  outcome: Outcome,
  keep: (payload: object, family: FamilyName) => object,
): Record<string, unknown> {
  const { event, payload } = outcome;
  const { payload: patched, ...rest } = outcome.toJSON();
  const emitted: Envelope = event;
  const { family } = event;
  const history: unknown = Object(emitted.payload)[histories.get(family) ?? ''];
  const fields = judged.get(family) ?? [];
  const isHeld = outcome.status !== 'passed';
  const heldBack = (isIt: boolean, from: object) =>
    isIt && Object.fromEntries(fields.map((field) => [field, digestOf(Object(from)[field])]));
  const isChanged = payload !== emitted.payload;
  const before = {
    ...keep(emitted.payload, family),
    ...heldBack(isHeld || isChanged, emitted.payload),
  };
  return {
    ...rest,
    event: { ...emitted, payload: before },
    ...(isChanged && {
      payload: { ...keep(Object(patched), family), ...heldBack(isHeld, Object(patched)) },
    }),
    ...(Array.isArray(history) && { historyLeftOut: history.length }),
  };
}
