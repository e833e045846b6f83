import type { SubagentFact } from '../stream/index.js';
import { type CsdkFrame, isFields, textField } from './frame.js';

/**
 * Tells the answer to what was asked from those of background subagents, which the SDK brings as further turns of a query: a
 * result, then the notification of their tasks, then a turn about them (csdk §7).
 */
export class BackgroundAnswers {
  /** The subagents that were seen: a command can go to the background, too, and is none. */
  readonly #agents = new Set<string>();
  readonly #running = new Set<string>();
  #ended: string[] = [];
  #hasResult = false;

  /** Reads a frame. @returns what is to be told before the events of the frame. */
  take(frame: CsdkFrame): readonly SubagentFact[] {
    if (frame.type !== 'system') return [];
    const taskId = textField(frame, 'task_id') ?? '';
    switch (frame.subtype) {
      case 'task_started':
        if (!isAgent(frame)) return [];
        this.#agents.add(taskId);
        if (frame.is_backgrounded === true) this.#running.add(taskId);
        return [];
      case 'task_updated':
        if (isFields(frame.patch) && frame.patch.is_backgrounded === true)
          if (this.#agents.has(taskId)) this.#running.add(taskId);
        return [];
      case 'task_notification':
        if (this.#running.delete(taskId)) this.#ended.push(taskId);
        return [];
      case 'init': {
        if (!this.#hasResult || this.#ended.length === 0) return [];
        const childRunIds = this.#ended;
        this.#ended = [];
        return [{ kind: 'children_answered', childRunIds }];
      }
      default:
        return [];
    }
  }

  /** @returns what is to be told when the events of a frame have been, unless they have ended the run. */
  after(frame: CsdkFrame): readonly SubagentFact[] {
    if (frame.type !== 'result' || this.#hasResult) return [];
    this.#hasResult = true;
    return this.#running.size + this.#ended.length > 0 ? [{ kind: 'answered' }] : [];
  }
}

function isAgent(frame: CsdkFrame): boolean {
  return (
    textField(frame, 'task_type') === 'local_agent' ||
    textField(frame, 'subagent_type') !== undefined
  );
}
