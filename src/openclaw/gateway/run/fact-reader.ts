import type { AgentEventPayload } from '@sluice/sdk/stream';
import { definedFields } from 'sluice-kernel/internal';
import type { OtherAgentEvent } from '../protocol/agent-event.js';
import type { ChatEvent } from '../protocol/chat-event.js';
import { type RunEndFact, type RunFact, toolFactOf } from './run-fact.js';

/**
 * Reads what a gateway tells of one run, from both kinds of events: stream §4.3.
 *
 * @param keepsSilence tells `NO_REPLY`, too: a turn hears that the agent means its silence (pipeline §16.28).
 */
export function factReader(report: (fact: RunFact) => void, keepsSilence = false) {
  /** A text that may become `NO_REPLY`: it is held back until it is clear that it does not. */
  let held: string | undefined;
  /** The text so far of the message that is open: a preamble tells it again, or goes on with it. */
  let open = '';

  function snapshot(kind: 'thinking' | 'text', { text, delta }: Readonly<Record<string, unknown>>) {
    if (typeof text !== 'string') return; // no snapshot: the next one has it
    const opens = delta === text;
    if (kind === 'text') {
      open = text;
      const said = text.trim();
      held = said !== '' && silence.startsWith(said) ? text : undefined;
      if (held !== undefined) return;
    }
    report({ kind, text, opens, continues: !opens && typeof delta === 'string' });
  }

  /**
   * Reads a text before a tool call, as protocol 4 tells it: whole, and with each white space as one blank. What is known
   * of it already is kept as it came.
   */
  function preamble({ kind, phase, progressText }: Readonly<Record<string, unknown>>): void {
    if (kind !== 'preamble' || typeof progressText !== 'string') return;
    const known = open.replace(/\s+/g, ' ').trim();
    if (!known.startsWith(progressText)) {
      const goesOn = known !== '' && progressText.startsWith(known);
      const text = goesOn ? open.trimEnd() + progressText.slice(known.length) : progressText;
      snapshot('text', { text, delta: open === '' ? text : '' });
    }
    if (phase === 'end') open = '';
  }

  function tool(data: Readonly<Record<string, unknown>>): void {
    const fact = toolFactOf(data);
    if (fact === undefined) return;
    flush();
    if (fact.phase === 'start') open = '';
    report(fact);
  }

  function lifecycle(data: Readonly<Record<string, unknown>>): void {
    if (data.phase === 'error') end(failed('agent', reasonOf(data)));
    else if (data.phase === 'end')
      end(data.aborted === true ? { kind: 'end', how: 'aborted' } : { kind: 'end', how: 'done' });
  }

  /** Tells a text that was held back, now that it is known to be said. */
  function flush(): void {
    const text = held;
    held = undefined;
    if (text !== undefined && (keepsSilence || text.trim() !== silence))
      report({ kind: 'text', text, opens: true, continues: false });
  }

  function end(fact: RunEndFact): void {
    flush();
    report(fact);
  }

  return {
    agent({ seq, stream, data }: AgentEventPayload): void {
      if (stream === 'thinking') snapshot('thinking', data);
      else if (stream === 'assistant') snapshot('text', data);
      else if (stream === 'tool') tool(data);
      else if (stream === 'lifecycle') lifecycle(data);
      // a number from 1 up is the gateway's; with 0 the client says that the run is lost
      else end(failed(seq === 0 ? 'gateway' : 'agent', reasonOf(data)));
    },

    other({ stream, data }: OtherAgentEvent): void {
      if (stream === 'item') preamble(data);
      if (stream !== 'compaction' || (data.phase !== 'start' && data.phase !== 'end')) return;
      flush();
      report({ kind: 'compaction', phase: data.phase, willRetry: data.willRetry === true });
    },

    /** Reads the ends that only `chat` events tell: of a command, which is no agent run, and of an abort. */
    chat({ state, text, errorMessage, lost }: ChatEvent): void {
      if (state === 'final' && open !== '' && text !== open && text?.startsWith(open))
        snapshot('text', { text, delta: '' }); // the last snapshots may have been lost
      if (state === 'final') end({ kind: 'end', how: 'done', ...definedFields({ text }) });
      else if (state === 'aborted') end({ kind: 'end', how: 'aborted' });
      else if (state === 'error')
        end(failed(lost === undefined ? 'agent' : 'gateway', errorMessage ?? noReason));
    },
  };
}

const noReason = 'the agent failed and gave no reason';

function reasonOf({ error, message }: Readonly<Record<string, unknown>>): string {
  for (const one of [error, message]) if (typeof one === 'string' && one !== '') return one;
  return noReason;
}

function failed(by: 'agent' | 'gateway', message: string): RunEndFact {
  return { kind: 'end', how: 'failed', by, message, reachedAgent: true };
}

/** The answer of an agent that has nothing to say. The gateway hides it from its own chats. */
const silence = 'NO_REPLY';
