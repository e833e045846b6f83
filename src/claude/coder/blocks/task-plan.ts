import { type Fields, isFields, textField } from '../../frames/frame.js';
import type { CoderBody } from './coder-body.js';
import type { OpenCall } from './open-calls.js';

interface PlannedTask {
  readonly subject: string;
  readonly status: string;
}

/**
 * The list of things to do that an agent keeps with TaskCreate, TaskUpdate and TaskList, one call at a time (C16). TodoWrite
 * writes the whole list at once.
 */
export function taskPlan() {
  const planned = new Map<string, PlannedTask>();

  function create(args: Fields, told: Fields, content: unknown): boolean {
    const task = isFields(told.task) ? told.task : {};
    const id = textField(task, 'id') ?? /#(\w+)/.exec(textOf(content))?.[1];
    if (id === undefined) return false;
    const subject = textField(task, 'subject') ?? textField(args, 'subject') ?? '';
    planned.set(id, { subject, status: 'pending' });
    return true;
  }

  function update(args: Fields, told: Fields): boolean {
    const id = textField(args, 'taskId') ?? textField(told, 'taskId');
    if (id === undefined || told.success === false) return false;
    const status = textField(args, 'status');
    if (status === 'deleted') return planned.delete(id);
    const known = planned.get(id);
    const subject = textField(args, 'subject') ?? known?.subject ?? `task ${id}`;
    const now = { subject, status: status ?? known?.status ?? 'pending' };
    if (now.subject === known?.subject && now.status === known.status) return false;
    planned.set(id, now);
    return true;
  }

  function list({ tasks }: Fields): boolean {
    if (!Array.isArray(tasks)) return false;
    const before = text();
    planned.clear();
    for (const task of tasks.filter(isFields)) {
      const status = textField(task, 'status') ?? 'pending';
      planned.set(String(task.id), { subject: textField(task, 'subject') ?? '', status });
    }
    return text() !== before;
  }
  const text = (): string =>
    [...planned.values()].map(({ subject, status }) => planLine(status, subject)).join('\n');

  return {
    /** The list after a call that worked; nothing if it left the list as it was. */
    after({ name, args }: OpenCall, structured: unknown, content: unknown): CoderBody[] {
      const told = isFields(structured) ? structured : {};
      const given = isFields(args) ? args : {};
      const isChanged =
        (name === 'TaskCreate' && create(given, told, content)) ||
        (name === 'TaskUpdate' && update(given, told)) ||
        (name === 'TaskList' && list(told));
      return isChanged ? [{ type: 'plan_update', text: text() }] : [];
    },

    /** The conversation was thrown away, and the list with it. */
    clear: (): void => planned.clear(),
  };
}

const marks: ReadonlyMap<unknown, string> = new Map([
  ['completed', 'x'],
  ['in_progress', '~'],
]);

/** One thing to do, as a line of a list. */
export function planLine(status: unknown, subject: unknown): string {
  return `- [${marks.get(status) ?? ' '}] ${String(subject)}`;
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content.map((block) => (isFields(block) && textField(block, 'text')) || '').join('\n');
}
