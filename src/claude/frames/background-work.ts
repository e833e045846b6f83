import type { SubagentStatus } from '@sluice/sdk/stream';
import { type CsdkFrame, isFields, isTyped, textField } from './frame.js';
import { isOfNoTurn, isOthersResult } from './result.js';

const over: ReadonlySet<string | undefined> = new Set<SubagentStatus>([
  'completed',
  'failed',
  'stopped',
  'killed',
]);

/** Says if a task of this status has ended. */
export function isTaskOver(status: string | undefined): status is SubagentStatus {
  return over.has(status);
}

/**
 * The state of a run: a turn goes on; it is over; or a result came, and it waits for another turn: for a moment, because one may
 * follow at once, or for long, because something goes on.
 */
export type RunRest = 'turn' | 'over' | 'moment' | 'long';

/** The turn that a result is of: the first of the run's own, another of its own, somebody else's, or none. */
export type ResultOf = 'first' | 'own' | 'others' | 'none';

/**
 * The work that goes on after a result: tasks in the background, and turns that wait in a queue (csdk §7). Of the tasks that are
 * subagents it tells, too, which turn is about their answers: the SDK brings these as further turns, each after the
 * notification of the tasks.
 */
export class BackgroundWork {
  /** The tasks in the background that have not ended. */
  readonly #tasks = new Set<string>();
  /** The tasks that are subagents, until their notification comes: a command can go to the background, too. */
  readonly #subagents = new Map<string, 'foreground' | 'background'>();
  /** The subagents in the background whose notification came, and no turn after it. */
  #reported: string[] = [];
  #queuedTurns = 0;
  /** A result of the run's own turn came. */
  #hasResult = false;
  #results = 0;
  /** The model has spoken since the last result. */
  #hasSpoken = false;
  /** An `init` came since the last result. */
  #hasBegun = false;
  /** The last `session_state_changed`, if the SDK tells such. */
  #state: string | undefined;
  /** A task has left the background, and no turn has told of it: one `may` follow, or it `will`. */
  #report: 'may' | 'will' | undefined;
  /** The turn that goes on is about the answers of subagents. */
  #tellsOfSubagents = false;

  /** The tasks in the background. */
  get tasks(): number {
    return this.#tasks.size;
  }

  get queuedTurns(): number {
    return this.#queuedTurns;
  }

  /** The state of the run (csdk §7.2). */
  get rest(): RunRest {
    if (!this.#isWaiting) return 'turn';
    const isIdle = this.#state === 'idle';
    if (this.#tasks.size > 0 || this.#queuedTurns > 0 || this.#hasBegun) return 'long';
    if (this.#state !== undefined && !isIdle) return 'long';
    if (!this.#hasResult) return isIdle ? 'moment' : 'long';
    if (this.#report === undefined) return 'over';
    return this.#report === 'will' && !isIdle ? 'long' : 'moment';
  }

  /** Names its state: a wait for another turn is one as long as the name stays. */
  get wait(): string {
    return `${this.rest} ${this.#results}`;
  }

  /** A result of the run's own turn came. */
  get hasResult(): boolean {
    return this.#hasResult;
  }

  /** Subagents go on, or their answers are yet to be told. */
  get hasSubagents(): boolean {
    return this.#reported.length > 0 || [...this.#subagents.values()].includes('background');
  }

  /** Reads a `system` frame, where it is about tasks or the state of the session. */
  system(frame: CsdkFrame): void {
    const taskId = textField(frame, 'task_id') ?? '';
    switch (frame.subtype) {
      case 'background_tasks_changed': {
        const before = [...this.#tasks];
        this.#tasks.clear(); // the whole set, every time
        for (const task of Array.isArray(frame.tasks) ? frame.tasks : [])
          this.#tasks.add(idOf(task));
        if (before.some((id) => !this.#tasks.has(id))) this.#leftBackground();
        return;
      }
      case 'task_started':
        if (isSubagent(frame)) this.#subagents.set(taskId, 'foreground');
        if (frame.is_backgrounded !== false) this.#toBackground(taskId);
        return;
      case 'task_updated': {
        const patch = isFields(frame.patch) ? frame.patch : {};
        if (patch.is_backgrounded === true) this.#toBackground(taskId);
        if (isTaskOver(textField(patch, 'status')) && this.#tasks.delete(taskId))
          this.#leftBackground();
        return;
      }
      case 'task_notification':
        this.#tasks.delete(taskId);
        if (this.#subagents.get(taskId) !== 'foreground') this.#leftBackground();
        if (this.#subagents.get(taskId) === 'background') this.#reported.push(taskId);
        this.#subagents.delete(taskId);
        return;
      case 'session_state_changed':
        this.#state = textField(frame, 'state');
        if (this.#state !== 'idle') return;
        this.#queuedTurns = 0; // nothing is left to do, but for commands in the background
        this.#hasBegun = false;
        this.#report = undefined;
        return;
      default:
    }
  }

  /** The model speaks in the main thread: a turn goes on. */
  spoke(): void {
    if (this.#isWaiting) this.#report = undefined;
    this.#hasSpoken = true;
    if (this.#state === 'idle') this.#state = 'running';
  }

  /**
   * A turn begins. @returns the subagents whose answers it is about; none for one that goes back to what was asked, and
   * nothing if that goes on.
   */
  turnBegan(): readonly string[] | undefined {
    this.#report = undefined;
    this.#hasBegun = true;
    if (!this.#hasResult) return undefined;
    const subagents = this.#reported;
    if (subagents.length === 0 && !this.#tellsOfSubagents) return undefined;
    this.#reported = [];
    this.#tellsOfSubagents = subagents.length > 0;
    return subagents;
  }

  /** Reads a `result` frame. @returns the turn that it is of. */
  result(frame: CsdkFrame): ResultOf {
    const isOfNone = !this.#hasSpoken && isOfNoTurn(frame);
    const isFirst = !this.#hasResult;
    this.#results++;
    this.#hasSpoken = false;
    this.#hasBegun = false;
    const queued = frame.queued_turn_count;
    this.#queuedTurns = typeof queued === 'number' ? queued : 0;
    if (isOthersResult(frame)) return 'others';
    if (isOfNone) return 'none';
    this.#hasResult = true;
    return isFirst ? 'first' : 'own';
  }

  /** Nothing of it goes on: the conversation was thrown away. */
  clear(): void {
    this.#tasks.clear();
    this.#subagents.clear();
    this.#reported = [];
    this.#queuedTurns = 0;
    this.#report = undefined;
  }

  /** A result came, and the model has not spoken since. */
  get #isWaiting(): boolean {
    return this.#results > 0 && !this.#hasSpoken;
  }

  #leftBackground(): void {
    this.#report = this.#isWaiting && !this.#hasBegun ? 'will' : 'may';
  }

  #toBackground(taskId: string): void {
    this.#tasks.add(taskId);
    if (this.#subagents.has(taskId)) this.#subagents.set(taskId, 'background');
  }
}

/** Says if a task that has started is a subagent, and no command. */
export function isSubagent(frame: CsdkFrame): boolean {
  const type = textField(frame, 'task_type') ?? '';
  const isOfType = ['local_agent', 'local_workflow'].includes(type);
  return isOfType || textField(frame, 'subagent_type') !== undefined;
}

function idOf(task: unknown): string {
  if (typeof task === 'string') return task;
  if (!isFields(task)) return '';
  return textField(task, 'task_id') ?? textField(task, 'id') ?? (isTyped(task) ? task.type : '');
}
