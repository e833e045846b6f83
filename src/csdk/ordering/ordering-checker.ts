import type { AssistantMessageEvent, SessionEvent } from '../../stream/index.js';
import { GrowingText } from '../frames/growing-text.js';
import type { OrderingRule, OrderingViolation } from './ordering-violation.js';

type Report = (rule: OrderingRule, message: string) => void;

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
  const run = new CheckedRun();
  let index = 0;
  let found: OrderingViolation[] = [];
  const report: Report = (rule, message) => found.push({ index, rule, message });
  const reported = (): readonly OrderingViolation[] => {
    if (found.length === 0) return none;
    const violations = found;
    found = [];
    return violations;
  };
  return {
    take(event) {
      run.take(event, report);
      index++;
      return reported();
    },
    finish() {
      run.finish(report);
      return reported();
    },
  };
}

type Phase = 'before' | 'running' | 'ended';

class CheckedRun {
  #phase: Phase = 'before';
  /** The blocks of the open message; nothing if none is open. */
  #blocks: CheckedBlocks | undefined;
  readonly #tools = new Map<string, 'running' | 'ended'>();
  #isCompacting = false;

  take(event: SessionEvent, report: Report): void {
    if (this.#phase === 'ended') report('agent-end-last', `${event.type} after agent_end`);
    else if (this.#phase === 'before' && event.type !== 'agent_start') {
      report('agent-start-first', `${event.type} before agent_start`);
      this.#phase = 'running';
    }
    switch (event.type) {
      case 'agent_start':
        if (this.#phase === 'running') report('agent-start-once', 'agent_start in a run');
        if (this.#phase === 'before') this.#phase = 'running';
        return;
      case 'message_start':
        if (this.#blocks !== undefined)
          report('message-nested', 'message_start before the end of the message before');
        this.#blocks = new CheckedBlocks();
        return;
      case 'message_update':
        if (this.#blocks === undefined)
          report('update-outside-message', `${event.assistantMessageEvent.type} outside a message`);
        else this.#blocks.take(event.assistantMessageEvent, report);
        return;
      case 'message_end':
        if (this.#blocks === undefined)
          report('message-not-open', 'message_end without message_start');
        this.#blocks?.finish(report);
        this.#blocks = undefined;
        return;
      case 'tool_execution_start':
        if (this.#tools.has(event.toolCallId))
          report('tool-started-twice', `tool call "${event.toolCallId}" starts again`);
        this.#tools.set(event.toolCallId, 'running');
        return;
      case 'tool_execution_update':
        this.#isRunning(event.toolCallId, event.type, report);
        return;
      case 'tool_execution_end':
        this.#isRunning(event.toolCallId, event.type, report);
        this.#tools.set(event.toolCallId, 'ended');
        return;
      case 'auto_compaction_start':
        if (this.#isCompacting)
          report('compaction-nested', 'auto_compaction_start in a compaction');
        this.#isCompacting = true;
        return;
      case 'auto_compaction_end':
        if (!this.#isCompacting)
          report('compaction-not-open', 'auto_compaction_end without auto_compaction_start');
        this.#isCompacting = false;
        return;
      case 'agent_end':
        if (this.#phase !== 'ended') this.finish(report, true);
        this.#phase = 'ended';
    }
  }

  /** Everything has to be closed at `agent_end`; without one, that is missing. */
  finish(report: Report, atAgentEnd = false): void {
    if (!atAgentEnd && this.#phase !== 'ended')
      report('agent-end-missing', 'the stream ended without agent_end');
    if (this.#blocks !== undefined) {
      report('message-not-ended', 'a message is open at the end');
      this.#blocks = undefined;
    }
    for (const [id, state] of this.#tools)
      if (state === 'running') {
        report('tool-not-ended', `tool call "${id}" has no end`);
        this.#tools.set(id, 'ended');
      }
    if (this.#isCompacting) report('compaction-not-ended', 'a compaction is open at the end');
    this.#isCompacting = false;
  }

  #isRunning(id: string, type: SessionEvent['type'], report: Report): void {
    if (this.#tools.get(id) !== 'running')
      report('tool-not-running', `${type} of tool call "${id}", which does not run`);
  }
}

interface CheckedBlock {
  readonly kind: string;
  readonly text: GrowingText;
}

/** The blocks of one message, by their number. */
class CheckedBlocks {
  readonly #open = new Map<number, CheckedBlock>();
  readonly #started = new Set<number>();

  take(event: AssistantMessageEvent, report: Report): void {
    const { contentIndex } = event;
    const [kind = '', phase] = event.type.split('_');
    if (phase === 'start') {
      if (this.#started.has(contentIndex))
        report('block-started-twice', `${event.type} of block ${contentIndex}, which has started`);
      this.#started.add(contentIndex);
      this.#open.set(contentIndex, { kind, text: new GrowingText() });
      return;
    }
    const block = this.#open.get(contentIndex);
    if (block?.kind !== kind)
      report('block-not-open', `${event.type} of block ${contentIndex}, which is not open`);
    if (block === undefined) return;
    if ('delta' in event) block.text.append(event.delta);
    if (!('content' in event)) return;
    this.#open.delete(contentIndex);
    if (block.text.read() !== event.content)
      report(
        'block-content',
        `block ${contentIndex} ends with ${event.content.length} characters that are not its deltas'`,
      );
  }

  finish(report: Report): void {
    for (const [index, { kind }] of this.#open)
      report('block-not-ended', `${kind} block ${index} is open at message_end`);
  }
}
