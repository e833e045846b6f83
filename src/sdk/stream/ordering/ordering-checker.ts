import { grownBy } from '../growing-text.js';
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
  return new RunChecker();
}

class RunChecker implements OrderingChecker {
  #index = 0;
  #found: OrderingViolation[] = [];
  #phase: 'before' | 'running' | 'ended' = 'before';
  /** The blocks of the open message, by their number; nothing if none is open. */
  #blocks: Map<number, CheckedBlock> | undefined;
  readonly #tools = new Map<string, 'running' | 'ended'>();
  #isCompacting = false;

  take(event: SessionEvent): readonly OrderingViolation[] {
    this.#check(event);
    this.#index++;
    return this.#reported();
  }

  finish(): readonly OrderingViolation[] {
    if (this.#phase !== 'ended')
      this.#report('agent-end-missing', 'the stream ended without agent_end');
    this.#checkEnd();
    return this.#reported();
  }

  #report(rule: OrderingRule, message: string): void {
    this.#found.push({ index: this.#index, rule, message });
  }

  #reported(): readonly OrderingViolation[] {
    if (this.#found.length === 0) return none;
    const violations = this.#found;
    this.#found = [];
    return violations;
  }

  #check(event: SessionEvent): void {
    if (this.#phase === 'ended') this.#report('agent-end-last', `${event.type} after agent_end`);
    else if (this.#phase === 'before' && event.type !== 'agent_start') {
      this.#report('agent-start-first', `${event.type} before agent_start`);
      this.#phase = 'running';
    }
    switch (event.type) {
      case 'agent_start':
        if (this.#phase === 'running') this.#report('agent-start-once', 'agent_start in a run');
        if (this.#phase === 'before') this.#phase = 'running';
        return;
      case 'message_start':
        if (this.#blocks !== undefined)
          this.#report('message-nested', 'message_start before the end of the message before');
        this.#blocks = new Map();
        return;
      case 'message_update':
        if (this.#blocks === undefined)
          this.#report(
            'update-outside-message',
            `${event.assistantMessageEvent.type} outside a message`,
          );
        else this.#checkBlock(this.#blocks, event.assistantMessageEvent);
        return;
      case 'message_end':
        if (this.#blocks === undefined)
          this.#report('message-not-open', 'message_end without message_start');
        for (const [at, { kind, isOpen }] of this.#blocks ?? [])
          if (isOpen) this.#report('block-not-ended', `${kind} block ${at} is open at message_end`);
        this.#blocks = undefined;
        return;
      case 'tool_execution_start':
        if (this.#tools.has(event.toolCallId))
          this.#report('tool-started-twice', `tool call "${event.toolCallId}" starts again`);
        this.#tools.set(event.toolCallId, 'running');
        return;
      case 'tool_execution_update':
      case 'tool_execution_end':
        if (this.#tools.get(event.toolCallId) !== 'running')
          this.#report(
            'tool-not-running',
            `${event.type} of tool call "${event.toolCallId}", which does not run`,
          );
        if (event.type === 'tool_execution_end') this.#tools.set(event.toolCallId, 'ended');
        return;
      case 'auto_compaction_start':
        if (this.#isCompacting)
          this.#report('compaction-nested', 'auto_compaction_start in a compaction');
        this.#isCompacting = true;
        return;
      case 'auto_compaction_end':
        if (!this.#isCompacting)
          this.#report('compaction-not-open', 'auto_compaction_end without auto_compaction_start');
        this.#isCompacting = false;
        return;
      case 'agent_end':
        if (this.#phase !== 'ended') this.#checkEnd();
        this.#phase = 'ended';
    }
  }

  #checkBlock(open: Map<number, CheckedBlock>, event: AssistantMessageEvent): void {
    const { contentIndex } = event;
    const [kind = '', step] = event.type.split('_');
    const block = open.get(contentIndex);
    if (step === 'start') {
      if (block !== undefined)
        this.#report(
          'block-started-twice',
          `${event.type} of block ${contentIndex}, which has started`,
        );
      open.set(contentIndex, { kind, text: '', isOpen: true });
      return;
    }
    if (block?.isOpen !== true || block.kind !== kind)
      this.#report('block-not-open', `${event.type} of block ${contentIndex}, which is not open`);
    if (block?.isOpen !== true) return;
    if ('delta' in event) block.text = grownBy(block.text, event.delta);
    if (!('content' in event)) return;
    block.isOpen = false;
    if (block.text !== event.content)
      this.#report(
        'block-content',
        `block ${contentIndex} ends with ${event.content.length} characters that are not its deltas'`,
      );
    block.text = '';
  }

  /** Everything has to be closed at `agent_end`. */
  #checkEnd(): void {
    if (this.#blocks !== undefined)
      this.#report('message-not-ended', 'a message is open at the end');
    this.#blocks = undefined;
    for (const [id, state] of this.#tools)
      if (state === 'running') {
        this.#report('tool-not-ended', `tool call "${id}" has no end`);
        this.#tools.set(id, 'ended');
      }
    if (this.#isCompacting) this.#report('compaction-not-ended', 'a compaction is open at the end');
    this.#isCompacting = false;
  }
}

interface CheckedBlock {
  readonly kind: string;
  text: string;
  isOpen: boolean;
}
