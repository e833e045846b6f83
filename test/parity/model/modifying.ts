import type { ParityEnding } from '../../../src/openclaw/parity/index.js';
import { type Fields, type HandlerSpec, snapshot } from '../hooks/hook-set.js';
import { accept, cancels, isRecord, type Taken } from './accept.js';
import { type Followed, fail, itsWords, tellOf } from './failure.js';
import type { Placed } from './order.js';
import { type Counted, resultOf } from './results.js';

/** A failure that is told when the stage has ended. */
interface Late {
  readonly spec: HandlerSpec;
  readonly dispatch: 0 | 1;
}

/** One after the other, each awaited; what they answer becomes one. */
export function followModifying(run: Followed, placed: readonly Placed[]): ParityEnding {
  const { set, recorder, rows } = run;
  const answers: Counted[] = [];
  const late: Late[] = [];
  const params = new Params(recorder.event);
  let wasAwaited = false;
  let wasSlow = false; // the pipeline waits for promises only
  for (const [at, { spec, index }] of placed.entries()) {
    const isAtOnce = rows.take('answers-at-once-share-a-tick', wasAwaited !== wasSlow)
      ? !wasSlow
      : !wasAwaited;
    const begun = recorder.call(index, recorder.event, isAtOnce);
    if (spec.timing !== 'now') wasSlow = true;
    if (spec.timing === 'never') {
      if (!rows.take('hanging-handler-is-cut', true)) return { kind: 'pending' };
      late.push({ spec, dispatch: 0 });
      wasAwaited = true;
      continue;
    }
    if (spec.timing === 'gated') recorder.note(`${index} goes on`);
    const how = begun.failed ?? begun.end();
    if (spec.timing !== 'now' || 'value' in how) wasAwaited = true;
    const inPlace = params.take();
    if ('error' in how) {
      fail(run, spec, how.error);
      continue;
    }
    const taken = take(run, spec, how.value);
    if (taken !== undefined) {
      late.push(...taken.told.map((dispatch) => ({ spec, dispatch })));
      if (!taken.isNone) answers.push({ value: taken.value, isPart: taken.told.length > 0 });
    }
    params.write(inPlace, how.value);
    const isLast = at === placed.length - 1;
    if (rows.take('cancel-is-terminal', ends(run, taken) && !isLast)) break;
  }
  for (const { spec } of late.toSorted((a, b) => a.dispatch - b.dispatch))
    tellOf(run, spec, itsWords);
  return { kind: 'returned', value: resultOf(set.hook, answers, params.written, rows) };
}

function take({ set, rows }: Followed, spec: HandlerSpec, value: unknown): Taken | undefined {
  return value === undefined || value === null ? undefined : accept(set.hook, spec, value, rows);
}

function ends({ set }: Followed, taken: Taken | undefined): boolean {
  if (!isRecord(taken?.value)) return false;
  if (set.hook === 'subagent_spawning') return taken.value['status'] === 'error';
  return Boolean(taken.value[cancels[set.hook] ?? '']);
}

/** The parameters of a tool call: what handlers returned, and what they set in place. */
class Params {
  readonly #event: Fields;
  #before: unknown;
  readonly written: Fields = {};

  constructor(event: Fields) {
    this.#event = event;
    this.#before = snapshot(event['params']);
  }

  /** What was set in place since the last time. A key that was deleted stays. */
  take(): Fields {
    const before = this.#before;
    const now = this.#event['params'];
    if (!isRecord(before) || !isRecord(now)) return {};
    const set = Object.keys(now).filter(
      (key) => JSON.stringify(before[key]) !== JSON.stringify(now[key]),
    );
    this.#before = snapshot(now);
    return snapshot(Object.fromEntries(set.map((key) => [key, now[key]])));
  }

  /** An answer that is refused takes what was set in place with it. */
  write(inPlace: Fields, answer: unknown): void {
    if (answer !== undefined && answer !== null && !isRecord(answer)) return;
    const params = isRecord(answer) ? answer['params'] : undefined;
    if (params !== undefined && params !== null && !isRecord(params)) return;
    Object.assign(this.written, inPlace, params);
  }
}
