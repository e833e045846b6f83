import { type CsdkFrame, isFields, isTyped, textField } from '../frame.js';

const over: ReadonlySet<string> = new Set(['completed', 'failed', 'stopped', 'killed']);

/** Whether a task of this status has ended. */
export function isTaskOver(status: string | undefined): boolean {
  return status !== undefined && over.has(status);
}

/** What goes on after a result: tasks in the background, and turns that wait in a queue (csdk §7). */
export class BackgroundWork {
  readonly #tasks = new Set<string>();
  #queuedTurns = 0;

  get tasks(): number {
    return this.#tasks.size;
  }

  get queuedTurns(): number {
    return this.#queuedTurns;
  }

  get isDone(): boolean {
    return this.#tasks.size === 0 && this.#queuedTurns === 0;
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
        if (frame.is_backgrounded === true) this.#tasks.add(taskId);
        return;
      case 'task_updated': {
        const patch = isFields(frame.patch) ? frame.patch : {};
        if (patch.is_backgrounded === true) this.#tasks.add(taskId);
        if (isTaskOver(textField(patch, 'status'))) this.#tasks.delete(taskId);
        return;
      }
      case 'task_notification':
        this.#tasks.delete(taskId);
        return;
      default:
    }
  }

  /** Reads a `result` frame. */
  result(frame: CsdkFrame): void {
    const queued = frame.queued_turn_count;
    this.#queuedTurns = typeof queued === 'number' ? queued : 0;
  }

  /** Nothing of it goes on: the conversation was thrown away. */
  clear(): void {
    this.#tasks.clear();
    this.#queuedTurns = 0;
  }
}

function idOf(task: unknown): string {
  if (typeof task === 'string') return task;
  if (!isFields(task)) return '';
  return textField(task, 'task_id') ?? textField(task, 'id') ?? (isTyped(task) ? task.type : '');
}
