import { type Fields, isFields, textField } from '../../frames/frame.js';
import type { CoderBody } from './coder-body.js';
import type { OpenCall } from './open-calls.js';
import { planLine } from './task-plan.js';

/**
 * The change that a tool's answer tells: a file, or the list of things to do. The structured result tells; an older SDK
 * gives none, and then the call's arguments do.
 */
export function changesOf(call: OpenCall, result: unknown): CoderBody[] {
  const told = isFields(result) ? result : {};
  const args = isFields(call.args) ? call.args : {};
  switch (call.name) {
    case 'Edit':
    case 'MultiEdit':
    case 'Write':
    case 'NotebookEdit':
      return [fileChange(call.name, told, args)];
    case 'TodoWrite': {
      const todos = told.newTodos ?? args.todos;
      return Array.isArray(todos)
        ? [{ type: 'plan_update', text: todos.map(todo).join('\n') }]
        : [];
    }
    default:
      return [];
  }
}

function fileChange(tool: string, told: Fields, args: Fields): CoderBody {
  const path =
    textField(told, 'filePath') ??
    textField(told, 'notebook_path') ??
    textField(args, 'file_path') ??
    textField(args, 'notebook_path');
  const op =
    told.type === 'create' ? 'create' : tool === 'Write' && !told.type ? undefined : 'modify';
  const patch = patchOf(told.structuredPatch);
  return {
    type: 'file_change',
    ...(path !== undefined && { path }),
    ...(op !== undefined && { op }),
    ...(patch !== undefined && { patch }),
  };
}

/** The hunks of a structured patch, as a unified diff writes them. */
function patchOf(hunks: unknown): string | undefined {
  if (!Array.isArray(hunks) || hunks.length === 0) return undefined;
  return hunks.filter(isFields).map(hunk).join('\n');
}

function hunk({ oldStart, oldLines, newStart, newLines, lines }: Fields): string {
  const head = `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
  return [head, ...(Array.isArray(lines) ? lines.map(String) : [])].join('\n');
}

function todo(one: unknown): string {
  const { status, content } = isFields(one) ? one : { status: '', content: one };
  return planLine(status, content);
}
