import type { SubagentStatus } from '../../stream/index.js';
import { type CsdkFrame, isFields, isTyped, textField } from './frame.js';

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
  #hasResult = false;
  /** The turn that goes on is about the answers of subagents. */
  #tellsOfSubagents = false;

  get tasks(): number {
    return this.#tasks.size;
  }

  get queuedTurns(): number {
    return this.#queuedTurns;
  }

  get isDone(): boolean {
    return this.#tasks.size === 0 && this.#queuedTurns === 0;
  }

  /** Subagents go on, or their answers are yet to be told. */
  get hasSubagents(): boolean {
    return this.#reported.length > 0 || [...this.#subagents.values()].includes('background');
  }

  /** Reads a `system` frame, where it is about tasks. */
  system(frame: CsdkFrame): void {
    const taskId = textField(frame, 'task_id') ?? '';
    switch (frame.subtype) {
      case 'background_tasks_changed': // the whole set, every time
        this.#tasks.clear();
        for (const task of Array.isArray(frame.tasks) ? frame.tasks : [])
          this.#tasks.add(idOf(task));
        return;
      case 'task_started':
        if (isSubagent(frame)) this.#subagents.set(taskId, 'foreground');
        if (frame.is_backgrounded === true) this.#toBackground(taskId);
        return;
      case 'task_updated': {
        const patch = isFields(frame.patch) ? frame.patch : {};
        if (patch.is_backgrounded === true) this.#toBackground(taskId);
        if (isTaskOver(textField(patch, 'status'))) this.#tasks.delete(taskId);
        return;
      }
      case 'task_notification':
        this.#tasks.delete(taskId);
        if (this.#subagents.get(taskId) === 'background') this.#reported.push(taskId);
        this.#subagents.delete(taskId);
        return;
      default:
    }
  }

  /**
   * A turn begins. @returns the subagents whose answers it is about; none for one that goes back to what was asked, and
   * nothing if that goes on.
   */
  turnBegan(): readonly string[] | undefined {
    if (!this.#hasResult) return undefined;
    const subagents = this.#reported;
    if (subagents.length === 0 && !this.#tellsOfSubagents) return undefined;
    this.#reported = [];
    this.#tellsOfSubagents = subagents.length > 0;
    return subagents;
  }

  /** Reads a `result` frame. @returns whether it is the first one. */
  result(frame: CsdkFrame): boolean {
    const isFirst = !this.#hasResult;
    this.#hasResult = true;
    const queued = frame.queued_turn_count;
    this.#queuedTurns = typeof queued === 'number' ? queued : 0;
    return isFirst;
  }

  /** Nothing of it goes on: the conversation was thrown away. */
  clear(): void {
    this.#tasks.clear();
    this.#subagents.clear();
    this.#reported = [];
    this.#queuedTurns = 0;
  }

  #toBackground(taskId: string): void {
    this.#tasks.add(taskId);
    if (this.#subagents.has(taskId)) this.#subagents.set(taskId, 'background');
  }
}

/** Says if a task that has started is a subagent, and no command. */
export function isSubagent(frame: CsdkFrame): boolean {
  return (
    textField(frame, 'task_type') === 'local_agent' ||
    textField(frame, 'subagent_type') !== undefined
  );
}

function idOf(task: unknown): string {
  if (typeof task === 'string') return task;
  if (!isFields(task)) return '';
  return textField(task, 'task_id') ?? textField(task, 'id') ?? (isTyped(task) ? task.type : '');
}
