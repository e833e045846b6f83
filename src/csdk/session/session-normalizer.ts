import { definedFields } from '../../kernel/index.js';
import type { AgentEnd, SessionEvent, SessionUsage, SubagentFact } from '../../stream/index.js';
import { BackgroundWork } from '../frames/background-work.js';
import type { CsdkCallback } from '../frames/callback.js';
import { type CsdkFrame, isFields, textField } from '../frames/frame.js';
import { frameIds } from '../frames/frame-ids.js';
import { silentSystemTypes, silentTypes } from '../frames/known-frames.js';
import { isBackgroundResult } from '../frames/result.js';
import { modelFallback } from './fallback.js';
import { mainLane } from './main-lane.js';
import type { RunOptions } from './normalize-options.js';
import { endOfResult, type RunEnd, usageOfResult, usageSoFar } from './run-end.js';
import type { DiagnosticFact } from './session-diagnostic.js';
import { subagentLanes } from './subagent-lanes.js';

/**
 * The state of one run. It reads what arrives, one thing at a time, and emits events at once: nothing in it waits.
 * After `agent_end` everything is counted and dropped.
 */
export function sessionNormalizer(
  options: RunOptions,
  emit: (event: SessionEvent) => void,
  tell: (fact: DiagnosticFact) => void,
  tellSubagents: (fact: SubagentFact) => void = () => undefined,
) {
  const ids = frameIds();
  const work = new BackgroundWork();
  const wentOver = modelFallback();
  let ended = false;
  /** The end of the run, as the results so far tell it. */
  let verdict: RunEnd | undefined;
  let usage: SessionUsage | undefined;
  let waits = 0;
  let isWaiting = false;
  const endsIdle = options.end === 'idle';
  const main = mainLane(emit, tell, options.toolStart === 'messageEnd');
  const lanes = subagentLanes(main.tools, tell, options.subagents === 'drop');
  /** The readers of the main lane's frames, by type. */
  const readers: ReadonlyMap<string, (frame: CsdkFrame) => void> = new Map([
    ['stream_event', main.streamEvent],
    ['assistant', assistant],
    ['user', main.user],
    ['result', result],
    ['system', system],
    ['tool_progress', main.toolProgress],
    ['tool_use_summary', main.toolSummary],
    ['conversation_reset', reset],
  ]);
  /** The readers of `system` frames, by subtype. All others are of the work that goes on. */
  const systemReaders: ReadonlyMap<string, (frame: CsdkFrame) => void> = new Map([
    ['init', turnBegan],
    ['status', main.compaction.status],
    ['compact_boundary', main.compaction.boundary],
    ['hook_started', main.compaction.hookStarted],
    ['model_fallback', wentOver.read],
    ['model_refusal_fallback', refused],
    ['model_refusal_no_fallback', retractedBy],
    ['session_state_changed', stateChanged],
  ]);
  emit({ type: 'agent_start' });

  function takeMain(frame: CsdkFrame): void {
    const read = readers.get(frame.type);
    if (read !== undefined) read(frame);
    else if (!silentTypes.has(frame.type)) tell({ kind: 'unknown_frame', type: frame.type });
  }

  function assistant(frame: CsdkFrame): void {
    retracted(frame.supersedes, 'assistant');
    main.assistant(frame);
  }

  function system(frame: CsdkFrame): void {
    const subtype = textField(frame, 'subtype') ?? '';
    const read = systemReaders.get(subtype);
    if (read !== undefined) return void read(frame);
    work.system(frame);
    lanes.task(frame);
    if (!silentSystemTypes.has(subtype)) tell({ kind: 'unknown_frame', type: 'system', subtype });
  }

  function refused(frame: CsdkFrame): void {
    wentOver.read(frame);
    retractedBy(frame);
  }

  function retractedBy({ retracted_message_uuids: uuids, subtype }: CsdkFrame): void {
    retracted(uuids, String(subtype));
  }

  function stateChanged({ state }: CsdkFrame): void {
    if (state === 'idle' && isWaiting) finish(decided() ?? {});
  }

  function turnBegan(): void {
    const childRunIds = work.turnBegan();
    if (childRunIds !== undefined) tellSubagents({ kind: 'children_answered', childRunIds });
    main.compaction.sessionBegan();
  }

  function result(frame: CsdkFrame): void {
    const isFirst = work.result(frame);
    const keepDetached = endsIdle && !work.isDone;
    const deferred = isFields(frame.deferred_tool_use) ? frame.deferred_tool_use : {};
    main.reader.displace();
    const deferredId = textField(deferred, 'id') ?? '';
    if (main.tools.isRunning(deferredId)) main.tools.end(deferredId, { deferred: true }, false);
    const end = endOfResult(frame, main.writer.lastError);
    main.closeAll({ aborted: end.aborted === true, keepDetached });
    usage = usageSoFar(usage, usageOfResult(frame));
    decide(frame, end);
    if (keepDetached) {
      isWaiting = true;
      waits++;
      if (isFirst && work.hasSubagents) tellSubagents({ kind: 'answered' });
    } else finish(verdict ?? end);
  }

  /** The last result says how the run ended, unless it is a background task's and another one has said. */
  function decide(frame: CsdkFrame, end: RunEnd): void {
    const isBackground = isBackgroundResult(frame);
    const passed = verdict === undefined ? undefined : isBackground ? end : verdict;
    if (!isBackground || verdict === undefined) verdict = end;
    if (passed !== undefined)
      tell({ kind: 'result_passed_over', isBackground, failed: passed.error !== undefined });
  }

  /** The end of the run, if no turn has begun since the last result. */
  function decided(): RunEnd | undefined {
    return isWaiting ? verdict : undefined;
  }

  function reset(frame: CsdkFrame): void {
    tell({ kind: 'reset', ...definedFields({ trigger: textField(frame, 'trigger') }) });
    main.closeAll({ aborted: true, keepDetached: false });
    work.clear();
  }

  function retracted(uuids: unknown, by: string): void {
    if (!Array.isArray(uuids) || uuids.length === 0) return;
    const texts = uuids.filter((uuid) => typeof uuid === 'string');
    tell({ kind: 'retracted', uuids: texts, by });
  }

  function finish(end: Pick<AgentEnd, 'error' | 'aborted'>): void {
    if (ended) return;
    const aborted = end.aborted === true || end.error !== undefined;
    main.closeAll({ aborted, keepDetached: false });
    const { messages } = main.writer;
    const fallback = wentOver.after(messages);
    emit({
      type: 'agent_end',
      messages,
      ...end,
      ...definedFields({ usage, fallback }),
    });
    ended = true;
    isWaiting = false;
  }

  return {
    /** The number of the wait for another turn that goes on now, from 1; 0 where a turn goes on. */
    get wait(): number {
      return isWaiting ? waits : 0;
    },
    /** `agent_end` was emitted. */
    get ended(): boolean {
      return ended;
    },
    /** Reads a frame. A source without types may give other values: such a value is told and left out. */
    take(frame: CsdkFrame): void {
      if (!isFields(frame)) {
        tell({ kind: 'malformed_frame', type: typeof frame, problem: 'it is no object' });
        return;
      }
      const { type, uuid } = frame;
      if (ended) {
        tell({ kind: 'after_end', type });
        return;
      }
      if (ids.isRepeated(type, uuid)) {
        tell({ kind: 'duplicate_frame', type, uuid });
        return;
      }
      const lane = frame.parent_tool_use_id;
      if (typeof lane === 'string') lanes.take(lane, frame);
      else takeMain(frame);
      if (isWaiting && main.reader.isOpen) isWaiting = false;
    },
    /** Reads what the SDK told by a call. */
    callback(callback: CsdkCallback): void {
      if (ended) tell({ kind: 'after_end', type: callback.kind });
      else main.callback(callback);
    },
    /** The host has ended the run. */
    abort(): void {
      finish({ aborted: true });
    },
    /** There are no more frames. */
    sourceEnded(): void {
      const error = { subtype: 'stream_closed', message: 'the stream ended before its result' };
      finish(decided() ?? { error });
    },
    /** The frames’ source threw. After a result that is no news: the CLI exits with an error after an error result. */
    sourceThrew(thrown: unknown): void {
      if (ended || decided() !== undefined) tell({ kind: 'source_failed', error: thrown });
      finish(decided() ?? { error: { subtype: 'threw', message: String(thrown) } });
    },
    /** Nothing began in time; said too late where a turn has begun meanwhile. */
    idleTimedOut(): void {
      if (!isWaiting) return;
      const { tasks, queuedTurns } = work;
      tell({ kind: 'idle_timed_out', backgroundTasks: tasks, queuedTurns });
      finish(decided() ?? {});
    },
  };
}
