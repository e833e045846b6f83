import { GrowingText } from '../flow/growing-text.js';
import type { AssistantMessageEvent, SessionEvent } from '../session-event.js';
import type { OrderingRule, OrderingViolation } from './ordering-violation.js';

/** Checks a stream of session events as it goes by. */
export interface OrderingChecker {
  /** The rules that an event breaks. */
  take(event: SessionEvent): readonly OrderingViolation[];
  /** The rules that a stream breaks by its end: something is missing. */
  finish(): readonly OrderingViolation[];
}

const none: readonly OrderingViolation[] = [];

/**
 * Makes a checker for one run, from whatever agent its events come. It holds the text of the open message, and the
 * id of each tool call.
 *
 * @example
 * const checker = orderingChecker();
 * for await (const event of events) for (const one of checker.take(event)) logger.error(one.message);
 */
export function orderingChecker(): OrderingChecker {
  let index = 0;
  let found: OrderingViolation[] = [];
  let phase: 'before' | 'running' | 'ended' = 'before';
  /** The blocks of the open message, by their number; nothing if none is open. */
  let blocks: Map<number, CheckedBlock> | undefined;
  const tools = new Map<string, 'running' | 'ended'>();
  let isCompacting = false;

  function report(rule: OrderingRule, message: string): void {
    found.push({ index, rule, message });
  }

  function reported(): readonly OrderingViolation[] {
    if (found.length === 0) return none;
    const violations = found;
    found = [];
    return violations;
  }

  function check(event: SessionEvent): void {
    if (phase === 'ended') report('agent-end-last', `${event.type} after agent_end`);
    else if (phase === 'before' && event.type !== 'agent_start') {
      report('agent-start-first', `${event.type} before agent_start`);
      phase = 'running';
    }
    switch (event.type) {
      case 'agent_start':
        if (phase === 'running') report('agent-start-once', 'agent_start in a run');
        if (phase === 'before') phase = 'running';
        return;
      case 'message_start':
        if (blocks !== undefined)
          report('message-nested', 'message_start before the end of the message before');
        blocks = new Map();
        return;
      case 'message_update':
        if (blocks === undefined)
          report('update-outside-message', `${event.assistantMessageEvent.type} outside a message`);
        else checkBlock(blocks, event.assistantMessageEvent);
        return;
      case 'message_end':
        if (blocks === undefined) report('message-not-open', 'message_end without message_start');
        for (const [at, { kind, isOpen }] of blocks ?? [])
          if (isOpen) report('block-not-ended', `${kind} block ${at} is open at message_end`);
        blocks = undefined;
        return;
      case 'tool_execution_start':
        if (tools.has(event.toolCallId))
          report('tool-started-twice', `tool call "${event.toolCallId}" starts again`);
        tools.set(event.toolCallId, 'running');
        return;
      case 'tool_execution_update':
      case 'tool_execution_end':
        if (tools.get(event.toolCallId) !== 'running')
          report(
            'tool-not-running',
            `${event.type} of tool call "${event.toolCallId}", which does not run`,
          );
        if (event.type === 'tool_execution_end') tools.set(event.toolCallId, 'ended');
        return;
      case 'auto_compaction_start':
        if (isCompacting) report('compaction-nested', 'auto_compaction_start in a compaction');
        isCompacting = true;
        return;
      case 'auto_compaction_end':
        if (!isCompacting)
          report('compaction-not-open', 'auto_compaction_end without auto_compaction_start');
        isCompacting = false;
        return;
      case 'agent_end':
        if (phase !== 'ended') checkEnd();
        phase = 'ended';
    }
  }

  function checkBlock(blocks: Map<number, CheckedBlock>, event: AssistantMessageEvent): void {
    const { contentIndex } = event;
    const [kind = '', step] = event.type.split('_');
    const block = blocks.get(contentIndex);
    if (step === 'start') {
      if (block !== undefined)
        report('block-started-twice', `${event.type} of block ${contentIndex}, which has started`);
      blocks.set(contentIndex, { kind, text: new GrowingText(), isOpen: true });
      return;
    }
    if (block?.isOpen !== true || block.kind !== kind)
      report('block-not-open', `${event.type} of block ${contentIndex}, which is not open`);
    if (block?.isOpen !== true) return;
    if ('delta' in event) block.text.append(event.delta);
    if (!('content' in event)) return;
    block.isOpen = false;
    if (block.text.read() !== event.content)
      report(
        'block-content',
        `block ${contentIndex} ends with ${event.content.length} characters that are not its deltas'`,
      );
    block.text.clear();
  }

  /** Everything has to be closed at `agent_end`. */
  function checkEnd(): void {
    if (blocks !== undefined) report('message-not-ended', 'a message is open at the end');
    blocks = undefined;
    for (const [id, state] of tools)
      if (state === 'running') {
        report('tool-not-ended', `tool call "${id}" has no end`);
        tools.set(id, 'ended');
      }
    if (isCompacting) report('compaction-not-ended', 'a compaction is open at the end');
    isCompacting = false;
  }

  return {
    take(event) {
      check(event);
      index++;
      return reported();
    },
    finish() {
      if (phase !== 'ended') report('agent-end-missing', 'the stream ended without agent_end');
      checkEnd();
      return reported();
    },
  };
}

interface CheckedBlock {
  readonly kind: string;
  readonly text: GrowingText;
  isOpen: boolean;
}
