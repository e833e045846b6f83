import type {
  RunningSubagent,
  SubagentAnswer,
  SubagentStart,
  SubagentStatus,
} from '@sluice/sdk/stream';
import { inOrder, type StopSignal } from '@sluice/sdk/stream/internal';
import { type Clock, definedFields, type Gate, type PayloadOf } from 'sluice-kernel/internal';
import { type Approvals, judgeAsking, refusalOf } from './approvals.js';
import { failedBy } from './run-failure.js';
import type { RunSession } from './run-fields.js';
import type { Trail } from './trail.js';

/** A tool call that starts a subagent, and the subagent. */
export interface ChildCall extends SubagentStart {
  readonly toolCallId: string;
  /** The subagent that calls, by its run, or by the call that started it; absent in the main thread. */
  readonly subagentId?: string;
}

const outcomes = {
  completed: 'ok',
  failed: 'error',
  stopped: 'killed',
  killed: 'killed',
} as const satisfies Record<SubagentStatus, PayloadOf<'subagent.completed'>['outcome']>;

interface Child {
  readonly toolCallId: string;
  /** The subagent that asks for it. */
  readonly callerId: string | undefined;
  fields: Omit<PayloadOf<'subagent.spawning'>, 'runId'>;
  /** The one dispatch of `subagent.spawning`, with the reason if the child was refused. */
  spawning?: Promise<string | undefined>;
  childRunId: string | undefined;
  state: 'asked' | 'runs' | 'ended';
  isBackground: boolean;
  hasStopped: boolean;
}

/**
 * The subagents of one run. Each has one `subagent.spawning`, one `subagent.spawned` when it runs and one
 * `subagent.completed` when it has ended, however often its source says so. A subagent that was refused, or whose
 * call failed before anything of it was seen, has the first only.
 */
export class ChildRuns {
  readonly #trail: Trail;
  readonly #session: RunSession;
  readonly #clock: Clock;
  readonly #asking: { readonly runId: string; readonly approvals: Approvals | undefined };
  readonly #byCall = new Map<string, Child>();
  readonly #byRun = new Map<string, Child>();

  constructor(
    trail: Trail,
    session: RunSession,
    clock: Clock,
    asking: { readonly runId: string; readonly approvals: Approvals | undefined },
  ) {
    this.#trail = trail;
    this.#session = session;
    this.#clock = clock;
    this.#asking = asking;
  }

  /** A call that starts a subagent was seen. */
  called(call: ChildCall): void {
    this.#open(call);
  }

  /** Asks whether a call may start its subagent. @returns the reason if it may not. */
  ask(call: ChildCall, gate: Gate, signal?: StopSignal): Promise<string | undefined> {
    const child = this.#open(call);
    if (child.spawning === undefined) child.fields = { ...child.fields, ...named(call) }; // as its gate passed it
    return this.#spawning(child, gate, signal);
  }

  /** A subagent runs. If it could belong to several calls, nothing is told until the source names one. */
  async runs(start: RunningSubagent): Promise<void> {
    const { childRunId, toolCallId, agentId, isBackground } = start;
    const child =
      toolCallId === undefined
        ? (this.#byRun.get(childRunId) ?? this.#only(agentId))
        : agentId === undefined
          ? this.#byCall.get(toolCallId) // no call of a subagent, perhaps: nothing begins with that
          : this.#open({ ...start, toolCallId, agentId });
    if (child === undefined) return;
    this.#byRun.set(childRunId, child);
    if (isBackground === true) child.isBackground = true;
    await this.#run(child, childRunId);
  }

  /** A subagent stopped; how it ended is told by something else, or by nothing. */
  stopped(childRunId: string): void {
    const child = this.#byRun.get(childRunId);
    if (child !== undefined) child.hasStopped = true;
  }

  /** A subagent ended. */
  async ended(childRunId: string, status: SubagentStatus, error?: string): Promise<void> {
    const child = this.#byRun.get(childRunId);
    if (child !== undefined) await this.#end(child, status, outcomes[status], error);
  }

  /** The call that started a subagent has answered, and with it the subagent, if it is not in the background. */
  answered(toolCallId: string, isError: boolean): Promise<void> | undefined {
    const child = this.#byCall.get(toolCallId);
    return child && this.#answered(child, isError);
  }

  async #answered(child: Child, isError: boolean): Promise<void> {
    if (child.state === 'asked' && isError) {
      child.state = 'ended'; // it was refused, or failed before it ran
      return;
    }
    await this.#run(child, child.childRunId);
    if (child.isBackground) return;
    if (isError) await this.#end(child, 'failed', 'error');
    else await this.#end(child, 'completed', 'ok');
  }

  /** Returns the subagents of the main thread among these runs. */
  answering(childRunIds: readonly string[]): readonly SubagentAnswer[] {
    const { sessionKey: requesterSessionKey } = this.#session;
    return childRunIds.flatMap((childRunId) => {
      const fields = this.#byRun.get(childRunId)?.fields;
      if (fields?.requesterSessionKey !== requesterSessionKey) return []; // another subagent waits for that one
      const { childSessionKey, spawnMode } = fields;
      return [{ childSessionKey, requesterSessionKey, childRunId, spawnMode }];
    });
  }

  /** Ends the run, and each subagent that still runs. */
  close(): Promise<void> | undefined {
    const end = (child: Child) =>
      child.state === 'runs'
        ? this.#end(child, 'run-ended', child.hasStopped ? 'ok' : 'killed')
        : undefined;
    return inOrder(...Array.from(this.#byCall.values(), (child) => () => end(child)));
  }

  #open(call: ChildCall): Child {
    const { toolCallId, subagentId, isBackground = false } = call;
    const known = this.#byCall.get(toolCallId);
    if (known !== undefined) return known;
    const requester = this.#byRun.get(subagentId ?? '') ?? this.#byCall.get(subagentId ?? '');
    const { sessionKey } = this.#session;
    const child: Child = {
      toolCallId,
      callerId: subagentId,
      fields: {
        childSessionKey: `${sessionKey}:subagent:${toolCallId}`,
        requesterSessionKey: requester?.fields.childSessionKey ?? sessionKey,
        ...named(call),
        spawnMode: 'run',
        threadRequested: false,
      },
      childRunId: undefined,
      state: 'asked',
      isBackground,
      hasStopped: false,
    };
    this.#byCall.set(toolCallId, child);
    return child;
  }

  #spawning(child: Child, gate: Gate, signal?: StopSignal): Promise<string | undefined> {
    child.spawning ??= this.#askAbout(child, gate, signal);
    return child.spawning;
  }

  async #askAbout(
    child: Child,
    gate: Gate,
    signal: StopSignal | undefined,
  ): Promise<string | undefined> {
    const { outcome, cancel, use } = await judgeAsking({
      ...this.#asking,
      family: 'subagent.spawning',
      sessionKey: this.#session.sessionKey,
      ...(child.callerId !== undefined && { subagentId: child.callerId }),
      signal: signal ?? new AbortController().signal,
      dispatch: (again) =>
        this.#trail.dispatch('subagent.spawning', again?.payload ?? { ...child.fields }, {
          gate,
          ...definedFields({ signal }),
          ...again?.given,
        }),
    });
    const refusal = outcome.status === 'passed' ? await use?.() : cancel;
    if (outcome.status === 'passed' && refusal === undefined) return undefined;
    // a judgement that its asker gave up does not count: the next question gets a new one
    if (signal?.aborted === true) delete child.spawning;
    else child.state = 'ended'; // nothing that runs can be this one
    return refusalOf(refusal) ?? `the subagent ${failedBy(outcome)}`;
  }

  async #run(child: Child, childRunId: string | undefined): Promise<void> {
    if (child.state !== 'asked') return;
    child.state = 'runs';
    const runId = childRunId ?? child.toolCallId;
    child.childRunId = runId;
    await this.#spawning(child, 'observe-only');
    await this.#trail.dispatch('subagent.spawned', { ...child.fields, runId });
  }

  async #end(
    child: Child,
    reason: SubagentStatus | 'run-ended',
    outcome: 'ok' | 'error' | 'killed',
    error?: string,
  ): Promise<void> {
    if (child.state === 'ended') return;
    child.state = 'ended';
    const { childSessionKey, requesterSessionKey } = child.fields;
    await this.#trail.dispatch('subagent.completed', {
      targetSessionKey: childSessionKey,
      targetKind: 'subagent',
      reason,
      outcome,
      endedAtMs: this.#clock.now(),
      ...definedFields({ runId: child.childRunId, requesterSessionKey, error }),
    });
  }

  /**
   * Finds the one call that a subagent can belong to whose source names no call. A call that nobody was asked about starts
   * nothing: a subagent that starts otherwise must not pass for it, or its own `subagent.spawning` would only be observed.
   */
  #only(agentId: string | undefined): Child | undefined {
    const fitting = [...this.#byCall.values()].filter(
      ({ state, spawning, fields }) =>
        state === 'asked' &&
        spawning !== undefined &&
        (agentId === undefined || fields.agentId === agentId),
    );
    return fitting.length === 1 ? fitting[0] : undefined;
  }
}

function named({ agentId, label }: ChildCall) {
  return { agentId, ...definedFields({ label }) };
}
