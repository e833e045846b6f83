import { type Fields, isFields } from 'sluice-kernel/internal';

export { type Fields, isFields };

/** A frame as the SDK emitted it, untouched. Only its `type` is known. */
export interface CsdkFrame {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A content block of a message: the fields that are read here. */
export interface CsdkBlock extends Fields {
  readonly type: string;
}

/** An API message. Streamed ones come in several frames of the same id, one content block each. */
export interface CsdkMessage {
  readonly id: string;
  readonly model: string | undefined;
  readonly content: readonly CsdkBlock[];
  readonly stopReason: string | undefined;
  readonly usage: Fields | undefined;
}

/** A raw event of the Messages API. */
export interface CsdkStreamEvent extends Fields {
  readonly type: string;
}

/**
 * The frames that the model and its tools speak in, narrowed. `lane` is null in the main thread, else the id of the
 * tool call whose subagent it belongs to.
 */
export type KnownFrame =
  | {
      readonly kind: 'assistant';
      readonly lane: string | null;
      readonly message: CsdkMessage;
      readonly error: string | undefined;
      readonly aborted: boolean;
    }
  | {
      readonly kind: 'user';
      readonly lane: string | null;
      readonly content: readonly CsdkBlock[];
      readonly toolUseResult: unknown;
    }
  | { readonly kind: 'stream_event'; readonly lane: string | null; readonly event: CsdkStreamEvent }
  | { readonly kind: 'result'; readonly result: Fields };

/**
 * Narrows a frame to one of these. Others, and frames without the fields that they should have, give
 * nothing: the SDK's set of frames grows, and unknown ones are to be ignored.
 */
export function knownFrame(frame: CsdkFrame): KnownFrame | undefined {
  const parent = frame.parent_tool_use_id;
  const lane = typeof parent === 'string' ? parent : null;
  switch (frame.type) {
    case 'assistant': {
      const message = messageOf(frame.message);
      if (message === undefined) return undefined;
      const error = textField(frame, 'error');
      return { kind: 'assistant', lane, message, error, aborted: frame.aborted === true };
    }
    case 'user': {
      const message = frame.message;
      if (!isFields(message)) return undefined;
      const content = blocksOf(message.content);
      return { kind: 'user', lane, content, toolUseResult: frame.tool_use_result };
    }
    case 'stream_event': {
      const event = frame.event;
      return isTyped(event) ? { kind: 'stream_event', lane, event } : undefined;
    }
    case 'result':
      return { kind: 'result', result: frame };
    default:
      return undefined;
  }
}

/** An API message, or the one that a `message_start` announces. */
export function messageOf(value: unknown): CsdkMessage | undefined {
  if (!isFields(value)) return undefined;
  return {
    id: textField(value, 'id') ?? '',
    model: textField(value, 'model'),
    content: blocksOf(value.content),
    stopReason: textField(value, 'stop_reason'),
    usage: isFields(value.usage) ? value.usage : undefined,
  };
}

/** The number of the block that a raw event is about; 0 where it says none, or none that a message could have. */
export function blockIndex({ index }: CsdkStreamEvent): number {
  return typeof index === 'number' && index >= 0 && index < 2 ** 32 ? Math.trunc(index) : 0;
}

/** A field, where it is a text. */
export function textField(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}

/** Says if a value is an object with a `type`: a block, an event, a frame. */
export function isTyped(value: unknown): value is Fields & { readonly type: string } {
  return isFields(value) && typeof value.type === 'string';
}

/** The blocks of a message's content; none if it is a text, or nothing. */
export function blocksOf(value: unknown): readonly CsdkBlock[] {
  return Array.isArray(value) ? value.filter(isTyped) : [];
}
