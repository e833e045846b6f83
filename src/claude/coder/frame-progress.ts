import { type Fields, isFields, textField } from '../frames/frame.js';
import type { CoderBody } from './blocks/coder-body.js';
import { unnamed } from './to-coder-events.js';

type Progress = Extract<CoderBody, { type: 'progress' }>;

/** The fields that say the most about a frame, the best first. */
const telling = [
  'summary',
  'description',
  'content',
  'message',
  'text',
  'suggestion',
  'hook_name',
  'name',
  'state',
  'status',
  'error',
  'trigger',
  'reason',
  'key',
] as const;

/** Frames whose detail needs more than one field of a known name. */
const details: ReadonlyMap<string, (frame: Fields) => string | undefined> = new Map([
  [
    'system/api_retry',
    (frame) =>
      joined([
        `attempt ${frame.attempt} of ${frame.max_retries}`,
        frame.error ?? frame.error_status,
      ]),
  ],
  ['system/thinking_tokens', ({ estimated_tokens: tokens }) => `${tokens} tokens`],
  [
    'system/task_updated',
    ({ patch }) => (isFields(patch) ? textField(patch, 'status') : undefined),
  ],
  [
    'rate_limit_event',
    ({ rate_limit_info: info }) => (isFields(info) ? textField(info, 'status') : undefined),
  ],
]);

/** Makes progress of a frame that is neither text nor a tool call. */
export function frameProgress(frame: Fields): Progress {
  if (frame.type === 'tool_progress') return toolProgress(frame);
  const subtype = textField(frame, 'subtype');
  const type = textField(frame, 'type') ?? unnamed;
  if (type === 'system') {
    const compaction = compactionDetail(frame, subtype);
    if (compaction !== undefined)
      return { type: 'progress', label: 'compaction', detail: compaction };
  }
  const label = type === 'system' && subtype !== undefined ? `system/${subtype}` : type;
  const detail = (details.get(label) ?? firstTelling)(frame);
  return { type: 'progress', label, ...(detail !== undefined && { detail }) };
}

function firstTelling(frame: Fields): string | undefined {
  for (const name of telling) {
    const value = textField(frame, name);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

/** The time that a tool has run. The SDK does not tell its output so far. */
function toolProgress(frame: Fields): Progress {
  const seconds = frame.elapsed_time_seconds;
  return {
    type: 'progress',
    label: textField(frame, 'tool_name') ?? 'tool_progress',
    ...(typeof seconds === 'number' && { detail: `${seconds} s` }),
  };
}

function compactionDetail(frame: Fields, subtype: string | undefined): string | undefined {
  if (subtype === 'compact_boundary') {
    const about = isFields(frame.compact_metadata) ? frame.compact_metadata : {};
    const { trigger, pre_tokens: before, post_tokens: after } = about;
    const tokens = before === undefined ? undefined : `${before} -> ${after ?? '?'} tokens`;
    return joined([trigger, tokens]) ?? 'done';
  }
  if (subtype !== 'status') return undefined;
  if (frame.status === 'compacting') return 'compacting';
  const result = textField(frame, 'compact_result');
  return result && joined([result, frame.compact_error]);
}

function joined(parts: readonly unknown[]): string | undefined {
  return parts.filter((part) => part != null && part !== '').join(': ') || undefined;
}
