import type { Failure, Outcome } from 'sluice';
import type { Fact } from 'sluice/extension';
import type { InstrumentName, Values } from './instruments.js';
import { isOf, runOf } from './outcome-of.js';
import { Recent } from './recent.js';

/** Takes a value of an instrument. @param correlationId of the message, for an exemplar. */
export type Take = (
  name: InstrumentName,
  value: number,
  values: Values,
  correlationId: string,
) => void;

/** Takes a value that the entry which is heard gives. */
type TakeOfFact = (name: InstrumentName, value: number, ...values: Values) => void;

/** Distinct values that one label has at most; more become `other`, since a model or a channel may invent names. */
const mostValues = 100;

interface Run {
  readonly agent: string;
  readonly beganAtMs: number;
  model?: { readonly provider: string; readonly model: string; readonly atMs: number };
}

/** Makes values of instruments from the entries of timelines (sight §6). */
export class EntryMetrics {
  readonly #take: Take;
  readonly #now: () => number;
  readonly #accepted = new Recent<{ readonly atMs: number; readonly channel: string }>(10_000);
  readonly #runs = new Recent<Run>(10_000);
  readonly #tools = new Recent<number>(10_000);
  readonly #seen = new Map<string, Set<string>>();

  constructor(take: Take, now: () => number) {
    this.#now = now;
    this.#take = (name, value, values, correlationId) => {
      const bounded = values.map((one, at) => this.#bounded(`${name}/${at}`, one));
      take(name, value, bounded, correlationId);
    };
  }

  /** A failure of a handler, also one of an observer that nobody waited for. */
  failed({ extensionId, kind, policy }: Failure, family: string): void {
    this.#take('sluice.handler.failures', 1, [family, extensionId, kind, policy], '');
  }

  hear(entry: Fact): void {
    const { kind, id, correlationId } = entry;
    const take: TakeOfFact = (name, value, ...values) =>
      this.#take(name, value, values, correlationId);
    if (kind === 'update') {
      const { state, channel, atMs } = entry;
      if (state === 'accepted' && channel !== undefined) this.#accepted.set(id, { atMs, channel });
      if (state !== 'ended' && state !== 'dead') return;
      const began = this.#accepted.take(id);
      const of = [entry.channel ?? began?.channel, entry.outcome] as const;
      take('sluice.messages', 1, ...of);
      if (began !== undefined) take('sluice.message.duration', seconds(atMs - began.atMs), ...of);
    } else if (kind === 'lane') take('sluice.lane.wait', seconds(entry.waitedMs), entry.of);
    else if (kind === 'attempt') take('sluice.send.attempts', 1, entry.channel, entry.status);
    else if (kind === 'gap') take('sluice.records.dropped', entry.count, entry.why);
    else if (kind === 'send') {
      const { state, channel } = entry;
      if (state !== 'prepared' && state !== 'sending') take('sluice.sends', 1, channel, state);
    } else if (kind === 'dispatch') this.#dispatch(entry.outcome, take);
  }

  #dispatch(outcome: Outcome, take: TakeOfFact): void {
    const { event, status, steps } = outcome;
    const nowMs = this.#now();
    const spentMs = steps.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);
    const tookMs = Math.max(nowMs - event.occurredAt, event.hotPath ? spentMs : 0);
    take('sluice.stage.duration', seconds(tookMs), event.family, status);
    for (const { extensionId, contributionId, class: of, result, durationMs } of steps)
      if (durationMs !== undefined)
        take(
          'sluice.handler.duration',
          seconds(durationMs),
          extensionId,
          contributionId,
          of,
          result,
        );
    if (outcome.status === 'cancelled')
      take('sluice.cancels', 1, event.family, outcome.cancel.code, outcome.cancel.extensionId);
    const runId = runOf(outcome);
    if (runId !== undefined) this.#run(runId, outcome, nowMs, take);
  }

  #run(runId: string, outcome: Outcome, nowMs: number, take: TakeOfFact): void {
    const run = this.#runs.get(runId);
    if (isOf(outcome, 'agent.starting') && run === undefined) {
      const { agentId: agent = 'main' } = outcome.payload;
      this.#runs.set(runId, { agent, beganAtMs: outcome.event.occurredAt });
    } else if (isOf(outcome, 'agent.tool.calling') && outcome.status === 'passed')
      this.#tools.set(`${runId}/${outcome.payload.toolCallId}`, nowMs);
    if (run === undefined) return;
    if (isOf(outcome, 'agent.llm.input')) {
      const { provider, model } = outcome.payload;
      run.model = { provider, model, atMs: nowMs };
    } else if (isOf(outcome, 'agent.tool.called')) {
      const { toolCallId, toolName, isError } = outcome.payload;
      const beganAtMs = this.#tools.take(`${runId}/${toolCallId}`);
      const type = isError === true ? 'tool_error' : undefined;
      if (beganAtMs !== undefined)
        take(
          'gen_ai.execute_tool.duration',
          seconds(outcome.event.occurredAt - beganAtMs),
          ...[toolName, run.agent, type],
        );
    } else if (isOf(outcome, 'agent.completed')) {
      const { endedAtMs = nowMs, success, aborted } = outcome.payload;
      const type = success ? undefined : aborted ? 'aborted' : '_OTHER';
      take('gen_ai.invoke_agent.duration', seconds(endedAtMs - run.beganAtMs), run.agent, type);
    } else if (isOf(outcome, 'agent.llm.output')) {
      const { provider, model, usage = {}, error, durationMs } = outcome.payload;
      const of = ['chat', provider, model] as const;
      const tookMs = durationMs ?? outcome.event.occurredAt - (run.model?.atMs ?? nowMs);
      const type = error === undefined ? undefined : '_OTHER';
      take('gen_ai.client.operation.duration', seconds(tookMs), ...of, type);
      const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
      if (inputTokens !== undefined)
        take(
          'gen_ai.client.token.usage',
          inputTokens + cacheReadTokens + cacheWriteTokens,
          ...[...of, 'input'],
        );
      if (outputTokens !== undefined)
        take('gen_ai.client.token.usage', outputTokens, ...[...of, 'output']);
      this.#runs.take(runId);
    }
  }

  #bounded(label: string, value: string | undefined): string | undefined {
    if (value === undefined) return undefined;
    const seen = this.#seen.get(label) ?? new Set<string>();
    this.#seen.set(label, seen);
    if (seen.size < mostValues) seen.add(value);
    return seen.has(value) ? value : 'other';
  }
}

function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}
