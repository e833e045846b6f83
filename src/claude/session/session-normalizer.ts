import type {
  AgentEnd,
  AnsweredBy,
  AssistantMessage,
  SessionEvent,
  SessionUsage,
  SubagentFact,
} from '@sluice/sdk/stream';
import { definedFields } from 'sluice-kernel/internal';
import { BackgroundWork, type ResultOf } from '../frames/background-work.js';
import type { CsdkCallback } from '../frames/callback.js';
import { type CsdkFrame, isFields, textField } from '../frames/frame.js';
import { FrameIds } from '../frames/frame-ids.js';
import { silentSystemTypes, silentTypes } from '../frames/known-frames.js';
import { MainLane } from './main-lane.js';
import type { RunOptions } from './normalize-options.js';
import { endOfResult, type RunEnd, usageOfResult, usageSoFar } from './run-end.js';
import type { DiagnosticFact } from './session-diagnostic.js';
import { type SubagentLanes, subagentLanes } from './subagent-lanes.js';

/**
 * The state of one run. It reads what arrives, one thing at a time, and emits events at once: nothing in it waits.
 * After `agent_end` everything is counted and dropped.
 */
export class SessionNormalizer {
  readonly #emit: (event: SessionEvent) => void;
  readonly #report: (fact: DiagnosticFact) => void;
  readonly #reportSubagents: (fact: SubagentFact) => void;
  readonly #endsIdle: boolean;
  readonly #ids = new FrameIds();
  readonly #main: MainLane;
  readonly #lanes: SubagentLanes;
  /** Tells if, and how long, it waits for another turn. */
  readonly work = new BackgroundWork();
  readonly #fallback = modelFallback();
  #ended = false;
  /** The end of the run, as the results so far tell it. */
  #verdict: RunEnd | undefined;
  #usage: SessionUsage | undefined;

  /**
   * Emits `agent_start`.
   *
   * @param reportSubagents hears, in its place among the events, whose answer the next ones are.
   */
  constructor(
    options: RunOptions,
    emit: (event: SessionEvent) => void,
    report: (fact: DiagnosticFact) => void,
    reportSubagents: (fact: SubagentFact) => void = () => undefined,
  ) {
    this.#emit = emit;
    this.#report = report;
    this.#reportSubagents = reportSubagents;
    this.#endsIdle = options.end !== 'firstResult';
    const spoken = (event: SessionEvent): void => {
      if (event.type === 'message_start') this.work.spoke();
      emit(event);
    };
    this.#main = new MainLane(spoken, report, options.toolStart === 'messageEnd');
    this.#lanes = subagentLanes(this.#main.tools, report, options.subagents === 'drop');
    emit({ type: 'agent_start' });
  }

  /** `agent_end` was emitted. */
  get ended(): boolean {
    return this.#ended;
  }

  get #isOver(): boolean {
    const { rest, hasResult } = this.work;
    return rest === 'over' || (!this.#endsIdle && rest !== 'turn' && hasResult);
  }

  /** Reads a frame. A source without types may give other values: such a value is told and left out. */
  take(frame: CsdkFrame): void {
    if (!isFields(frame)) {
      this.#report({ kind: 'malformed_frame', type: typeof frame, problem: 'it is no object' });
      return;
    }
    const { type, uuid } = frame;
    if (this.#ended) {
      this.#report({ kind: 'after_end', type });
      return;
    }
    if (this.#ids.isRepeated(type, uuid)) {
      this.#report({ kind: 'duplicate_frame', type, uuid });
      return;
    }
    const lane = frame.parent_tool_use_id;
    if (typeof lane === 'string') this.#lanes.take(lane, frame);
    else this.#takeMain(frame);
    if (this.#main.reader.isOpen) this.work.spoke();
    if (this.#isOver) this.#end(this.#verdict ?? {});
  }

  /** Reads what the SDK told by a call. */
  callback(callback: CsdkCallback): void {
    if (this.#ended) this.#report({ kind: 'after_end', type: callback.kind });
    else this.#main.callback(callback);
  }

  /** The host has ended the run. */
  abort(): void {
    this.#end({ aborted: true });
  }

  /** There are no more frames. */
  sourceEnded(): void {
    const error = { subtype: 'stream_closed', message: 'the stream ended before its result' };
    this.#end(this.#decided() ?? { error });
  }

  /** The frames’ source threw. After a result that is no news: the CLI exits with an error after an error result. */
  sourceThrew(thrown: unknown): void {
    if (this.#ended || this.#decided() !== undefined)
      this.#report({ kind: 'source_failed', error: thrown });
    this.#end(this.#decided() ?? { error: { subtype: 'threw', message: String(thrown) } });
  }

  /** Nothing began in time; said too late where a turn has begun meanwhile. */
  idleTimedOut(): void {
    const { rest, tasks, queuedTurns } = this.work;
    if (rest === 'turn') return;
    if (rest === 'long')
      this.#report({ kind: 'idle_timed_out', backgroundTasks: tasks, queuedTurns });
    this.#end(this.#decided() ?? {});
  }

  /** The readers of the main lane's frames, by type. */
  static readonly #readers: Readers = new Map([
    ['stream_event', (run, frame) => run.#main.streamEvent(frame)],
    ['assistant', (run, frame) => run.#assistant(frame)],
    ['user', (run, frame) => run.#main.user(frame)],
    ['result', (run, frame) => run.#result(frame)],
    ['system', (run, frame) => run.#system(frame)],
    ['tool_progress', (run, frame) => run.#main.toolProgress(frame)],
    ['tool_use_summary', (run, frame) => run.#main.toolSummary(frame)],
    ['conversation_reset', (run, frame) => run.#reset(frame)],
  ]);

  /** The readers of `system` frames, by subtype. All others are of the work that goes on. */
  static readonly #systemReaders: Readers = new Map([
    ['init', (run) => run.#turnBegan()],
    ['status', (run, frame) => run.#main.compaction.status(frame)],
    ['compact_boundary', (run, frame) => run.#main.compaction.boundary(frame)],
    ['hook_started', (run, frame) => run.#main.compaction.hookStarted(frame)],
    ['model_fallback', (run, frame) => run.#fallback.read(frame)],
    ['model_refusal_fallback', (run, frame) => run.#refused(frame)],
    ['model_refusal_no_fallback', (run, frame) => run.#retractedBy(frame)],
    ['session_state_changed', (run, frame) => run.work.system(frame)],
  ]);

  #takeMain(frame: CsdkFrame): void {
    const read = SessionNormalizer.#readers.get(frame.type);
    if (read !== undefined) read(this, frame);
    else if (!silentTypes.has(frame.type))
      this.#report({ kind: 'unknown_frame', type: frame.type });
  }

  #assistant(frame: CsdkFrame): void {
    this.#retracted(frame.supersedes, 'assistant');
    this.#main.assistant(frame);
  }

  #system(frame: CsdkFrame): void {
    const subtype = textField(frame, 'subtype') ?? '';
    const read = SessionNormalizer.#systemReaders.get(subtype);
    if (read !== undefined) return void read(this, frame);
    this.work.system(frame);
    this.#lanes.task(frame);
    if (!silentSystemTypes.has(subtype))
      this.#report({ kind: 'unknown_frame', type: 'system', subtype });
  }

  #refused(frame: CsdkFrame): void {
    this.#fallback.read(frame);
    this.#retractedBy(frame);
  }

  #retractedBy({ retracted_message_uuids: uuids, subtype }: CsdkFrame): void {
    this.#retracted(uuids, String(subtype));
  }

  #turnBegan(): void {
    const childRunIds = this.work.turnBegan();
    if (childRunIds !== undefined)
      this.#reportSubagents({ kind: 'children_answered', childRunIds });
    this.#main.compaction.sessionBegan();
  }

  #result(frame: CsdkFrame): void {
    const of = this.work.result(frame);
    const isOver = this.#isOver;
    const deferred = isFields(frame.deferred_tool_use) ? frame.deferred_tool_use : {};
    this.#main.reader.displace();
    const deferredId = textField(deferred, 'id') ?? '';
    if (this.#main.tools.isRunning(deferredId))
      this.#main.tools.end(deferredId, { deferred: true }, false);
    const end = endOfResult(frame, this.#main.writer.lastError);
    this.#main.closeAll({ aborted: end.aborted === true, keepDetached: !isOver });
    this.#usage = usageSoFar(this.#usage, usageOfResult(frame));
    this.#decide(of, end);
    if (!isOver && of === 'first' && this.work.hasSubagents)
      this.#reportSubagents({ kind: 'answered' });
  }

  /** The last result of the run's own says how it ended; one of another turn does if there is no other. */
  #decide(of: ResultOf, end: RunEnd): void {
    const isBackground = of === 'others' || of === 'none';
    const passed = this.#verdict === undefined ? undefined : isBackground ? end : this.#verdict;
    if (!isBackground || this.#verdict === undefined) this.#verdict = end;
    if (passed !== undefined)
      this.#report({
        kind: 'result_passed_over',
        isBackground,
        failed: passed.error !== undefined,
      });
  }

  /** The end of the run, if no turn has begun since the last result. */
  #decided(): RunEnd | undefined {
    return this.work.rest === 'turn' ? undefined : this.#verdict;
  }

  #reset(frame: CsdkFrame): void {
    this.#report({ kind: 'reset', ...definedFields({ trigger: textField(frame, 'trigger') }) });
    this.#main.closeAll({ aborted: true, keepDetached: false });
    this.work.clear();
  }

  #retracted(uuids: unknown, by: string): void {
    if (!Array.isArray(uuids) || uuids.length === 0) return;
    const texts = uuids.filter((uuid) => typeof uuid === 'string');
    this.#report({ kind: 'retracted', uuids: texts, by });
  }

  #end(end: Pick<AgentEnd, 'error' | 'aborted'>): void {
    if (this.#ended) return;
    const aborted = end.aborted === true || end.error !== undefined;
    this.#main.closeAll({ aborted, keepDetached: false });
    const { messages } = this.#main.writer;
    const fallback = this.#fallback.after(messages);
    const known = definedFields({ usage: this.#usage, fallback });
    this.#emit({ type: 'agent_end', messages, ...end, ...known });
    this.#ended = true;
  }
}

type Readers = ReadonlyMap<string, (run: SessionNormalizer, frame: CsdkFrame) => void>;

/** Which model the SDK went over to on its own, if it did (csdk §6.7). */
function modelFallback() {
  let told: AnsweredBy | undefined;

  return {
    /** Reads a `system` frame that tells of a fallback. One of a subagent or of a side question leaves the run's model. */
    read(frame: CsdkFrame): void {
      if (frame.scope === 'local' || textField(frame, 'agent_id') !== undefined) return;
      const fromModel = textField(frame, 'original_model');
      const toModel = textField(frame, 'fallback_model');
      if (fromModel === undefined || toModel === undefined) return;
      const reason = textField(frame, 'content') ?? textField(frame, 'trigger');
      const isBack = frame.direction === 'revert';
      told = isBack ? undefined : { fromModel, toModel, ...definedFields({ reason }) };
    },

    /** The fallback that a run ended with: none if the model that was asked has answered last. */
    after: (messages: readonly AssistantMessage[]): AnsweredBy | undefined =>
      messages.at(-1)?.model === told?.fromModel ? undefined : told,
  };
}
