import type { ParityEnding } from '../../../src/openclaw/parity/index.js';
import { type Fields, type HandlerSpec, readable } from '../hooks/hook-set.js';
import { accept } from './accept.js';
import { type Followed, fail, itsWords, tellOf } from './failure.js';
import type { Placed } from './order.js';
import type { Ending } from './recorder.js';

/** One after the other in the caller's stack, each with what the one before it left. */
export function followSync(run: Followed, placed: readonly Placed[]): ParityEnding {
  const { set, recorder, rows } = run;
  const emitted = recorder.event['message'];
  const late: HandlerSpec[] = [];
  let current = emitted;
  let answered = emitted;
  let isBlocked = false;
  for (const { spec, index } of placed) {
    const begun = recorder.call(index, { ...recorder.event, message: current }, true);
    if (begun.failed === undefined && spec.timing !== 'now') {
      ignore(run, spec, begun.end);
      continue;
    }
    const how = begun.failed ?? begun.end();
    if ('error' in how) {
      fail(run, spec, how.error);
      continue;
    }
    const answer = how.value as Fields | null | undefined;
    if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) continue;
    const { value, told } = accept(set.hook, spec, answer, rows);
    if (told.length > 0) late.push(spec);
    isBlocked = set.hook === 'before_message_write' && Boolean(answer['block']);
    if (isBlocked) break;
    const message = (value as Fields)['message'];
    if (!message) continue;
    answered = message;
    if (message === current) continue;
    current = message;
  }
  for (const spec of late) tellOf(run, spec, itsWords);
  if (isBlocked) return { kind: 'returned', value: { block: true } };
  if (set.hook === 'before_message_write' && answered === emitted)
    return { kind: 'returned', value: undefined };
  return { kind: 'returned', value: { message: current } };
}

/** A promise from a synchronous hook's handler. */
function ignore(run: Followed, spec: HandlerSpec, end: () => Ending): void {
  const { set, recorder, rows } = run;
  const text = `[hooks] ${set.hook} handler from ${spec.pluginId} returned a Promise; this hook is synchronous and the result was ignored.`;
  const how: Ending = spec.timing === 'async' ? end() : { value: undefined }; // a thenable was never asked
  if ('error' in how && !rows.take('late-rejection-is-observed', true))
    recorder.unhandled.push(readable(how.error));
  if (!set.catchErrors) fail(run, spec, new Error(text));
  recorder.tell('warn', text);
}
