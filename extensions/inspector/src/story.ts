import {
  type DispatchEntry,
  type FoldedTimeline,
  foldTimeline,
  type TimelineEntry,
} from 'sluice/host';
import { lineOf, payloadAfter, payloadOf } from './message.js';

/** A thing that happened to a message, as people tell it: from a time on, as long as it took. */
export interface Told {
  readonly kind: 'step' | 'wait' | 'model' | 'tool' | 'question' | 'send';
  readonly atMs: number;
  readonly tookMs: number;
  readonly name: string;
  readonly status?: string | undefined;
  /** The reason, the words that were said or the like. */
  readonly note?: string | undefined;
}

type Step = FoldedTimeline['update'][number];
type Question = FoldedTimeline['questions'][number];
type Send = FoldedTimeline['sends'][number];

/**
 * Tells the entries of a message as a story: its steps, its waits, the model, the tools, questions and sends.
 *
 * @param untilMs the time up to which what is open has taken.
 */
export function storyOf(
  entries: readonly TimelineEntry[],
  mayText: boolean,
  untilMs: number,
): readonly Told[] {
  const { update, lanes, dispatches, questions, sends } = foldTimeline(entries);
  /** From the first entry of a thing to its end. */
  const during = (id: string, endMs: number) => {
    const atMs = entries.find((one) => one.id === id)?.atMs ?? endMs;
    return { atMs, tookMs: endMs - atMs };
  };
  const question = ({ id, state, title, atMs }: Question): Told => ({
    ...{ kind: 'question', ...during(id, state === 'pending' ? untilMs : atMs) },
    ...{ name: 'asked a human', status: state === 'used' ? 'allowed' : state, note: title },
  });
  const send = ({ id, last, attempts }: Send): Told => {
    const judged = mayText ? dispatches.find((one) => one.id === id) : undefined;
    const said = judged && lineOf(payloadAfter(judged)['content']);
    const tries = attempts.length > 1 ? `${attempts.length} attempts` : '';
    return {
      ...{ kind: 'send', ...during(id, last.atMs), name: `send of ${last.sendKind}` },
      status: last.state,
      note: [last.cause, last.reason, tries, said].filter(Boolean).join(', '),
    };
  };
  return [
    ...update.map(stepOf),
    ...lanes.map(({ atMs, of, waitedMs }): Told => {
      const name = `waited for its ${of}`;
      return { kind: 'wait', atMs: atMs - waitedMs, tookMs: waitedMs, name };
    }),
    ...modelAndTools(dispatches, untilMs),
    ...questions.map(question),
    ...sends.map(send),
  ];
}

const stepNames = {
  accepted: 'arrived',
  begun: 'begun',
  'given-back': 'put aside',
  left: 'left to the next host',
  ended: 'ended',
  dead: 'went to the dead letters',
};

function stepOf({ atMs, state, outcome, reason, attempt = 1, channel }: Step): Told {
  const status = state === 'dead' ? 'failed' : outcome;
  const note = attempt > 1 ? `attempt ${attempt}` : (reason ?? channel);
  return { kind: 'step', atMs, tookMs: 0, name: stepNames[state], status, note };
}

/** A model works from when it is asked until it wants a tool or is done, and again when its tools have answered. */
function modelAndTools(dispatches: readonly DispatchEntry[], untilMs: number): readonly Told[] {
  const told: Told[] = [];
  let model: { readonly atMs: number; readonly name: string } | undefined;
  let name = 'the model';
  const open = new Set<unknown>(); // a call that a human has allowed is judged twice
  const close = (atMs: number, status?: string, note?: string): void => {
    if (model !== undefined)
      told.push({ kind: 'model', ...model, tookMs: atMs - model.atMs, status, note });
    model = undefined;
  };
  for (const entry of dispatches.toSorted((one, other) => one.atMs - other.atMs)) {
    const { atMs, outcome } = entry;
    const { family } = outcome.event;
    const { toolCallId, toolName, durationMs, isError, ...payload } = payloadOf(entry);
    const error = lineOf(payload['error']);
    if (family === 'agent.llm.calling' && outcome.status === 'passed') {
      name = `model ${lineOf(payload['model']) ?? ''}`;
      model ??= { atMs, name };
    } else if (family === 'agent.tool.calling') {
      close(atMs);
      open.add(toolCallId);
    } else if (family === 'agent.tool.called') {
      const tookMs = Number(durationMs) || 0;
      const status = isError === true ? 'failed' : 'ok';
      const tool = { kind: 'tool', name: `tool ${lineOf(toolName) ?? ''}`, status } as const;
      told.push({ ...tool, atMs: atMs - tookMs, tookMs, note: error ?? lineOf(payload['meta']) });
      open.delete(toolCallId);
      if (open.size === 0) model = { atMs, name };
    } else if (family === 'agent.completed') {
      close(atMs, payload['success'] === false ? 'failed' : undefined, error);
      open.clear();
    }
  }
  close(untilMs, 'open'); // it works still, or its host has died
  return told;
}
