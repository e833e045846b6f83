import { expect } from 'vitest';
import type { GeneratedRow } from './improvements.js';
import { type OwnershipSequence, type OwnershipStep, ttlMs } from './sequence.js';
import type { SendFacts, SideFacts } from './sides.js';

type Send = Extract<OwnershipStep, { sends: unknown }>;
type Heard = Extract<OwnershipStep, { hears: unknown }>;

/** One send in its sequence: what it is, and what was heard before it that still counts. */
interface Situation {
  readonly send: Send;
  /** Messages on Slack, in threads, not older than a mention may be. */
  readonly heard: readonly Heard[];
  readonly sequence: OwnershipSequence;
}

/** How often each row was what explained a difference. */
export type RowTally = Map<GeneratedRow, number>;

/** Fails where the two sides differ by more than the rows say. */
export function compareSides(
  sequence: OwnershipSequence,
  legacy: SideFacts,
  native: SideFacts,
  tally: RowTally,
): void {
  sequence.steps.forEach((step, at) => {
    if (!('sends' in step)) return;
    const [theirs, ours] = [legacy[at], native[at]];
    if (theirs === undefined || ours === undefined) throw new Error('a send has no facts');
    const situation = { send: step, heard: heardBefore(sequence, at), sequence };
    const context = JSON.stringify({ step, theirs, ours, heard: situation.heard });
    const rows = rowsOf(situation, theirs, ours);
    expect(rows, context).not.toContain(undefined);
    for (const row of rows) if (row !== undefined) tally.set(row, (tally.get(row) ?? 0) + 1);
  });
}

/** The rows that explain each difference; `undefined` for one that no row does. */
function rowsOf(
  situation: Situation,
  theirs: SendFacts,
  ours: SendFacts,
): (GeneratedRow | undefined)[] {
  const { send } = situation;
  const rows: (GeneratedRow | undefined)[] = [];
  expect(theirs.marks).toEqual([]); // the plugin catches everything itself
  const [theirAsk, ourAsk] = [theirs.asked[0], ours.asked[0]];
  expect([theirs.asked.length, ours.asked.length].every((count) => count <= 1)).toBe(true);

  if (theirAsk !== undefined && ourAsk !== undefined) {
    if (theirAsk.url !== ourAsk.url)
      rows.push(decodeURIComponent(ourAsk.url) === theirAsk.url ? 'encoded-ids' : undefined);
    if (theirAsk.agentId !== ourAsk.agentId) rows.push(otherAgent(situation, ourAsk.agentId));
  } else if (theirAsk !== undefined) rows.push(onlyTheyAsk(situation));
  else if (ourAsk !== undefined) rows.push(onlyWeAsk(situation));

  if (ours.asked.length > 0) {
    expect(ours.isSent).toBe(send.sends.verdict !== 'others'); // the status is the verdict
    expect(ours.marks).toEqual(send.sends.verdict === 'none' ? ['threw'] : []);
    if (ours.marks.length > 0) rows.push('marked');
  } else {
    expect(ours.isSent).toBe(true);
    if (ours.marks.length > 0) rows.push(isDot(send) ? 'dot-ids' : undefined);
  }

  if (theirAsk !== undefined && ourAsk !== undefined && theirs.isSent !== ours.isSent)
    rows.push(theirs.isSent && isSpoiled(send) ? 'status-is-verdict' : undefined);
  if (ours.cancel !== undefined) {
    const isTooLong = (send.sends.body?.length ?? 0) > 64 * 1_024;
    const owner = isTooLong ? null : (send.sends.owner ?? null);
    expect(ours.cancel).toEqual({ code: 'owned-elsewhere', owner });
    rows.push('reason');
  }
  return rows;
}

function onlyTheyAsk(situation: Situation): GeneratedRow | undefined {
  const { send, heard } = situation;
  if (isDot(send)) return 'dot-ids';
  const here = heard.filter(({ at }) => samePlace(at, send.at));
  if (here.some(({ hears }) => hears.names === 'main with a label')) return 'labelled-mention';
  if (here.some(({ wasMentioned }) => wasMentioned)) return 'was-mentioned';
  if (here.some(({ hears }) => hears.names === 'second') && speaksAs(situation, 'second-agent'))
    return 'speaking-agent';
  return undefined;
}

function onlyWeAsk(situation: Situation): GeneratedRow | undefined {
  const { send, heard } = situation;
  const namesMain = ({ hears }: Heard): boolean => hears.names.startsWith('main');
  const joined = ({ at }: { at: Heard['at'] }): string => `${at.conversationId}:${at.threadId}`;
  const here = heard.filter(({ at }) => samePlace(at, send.at));
  if (here.some(namesMain) && speaksAs(situation, 'second-agent')) return 'speaking-agent';
  if (here.some(({ hears }) => hears.names === 'main within a word')) return 'whole-mention';
  const elsewhere = heard.filter((one) => !here.includes(one) && joined(one) === joined(send));
  return elsewhere.some(namesMain) ? 'joined-ids' : undefined;
}

function otherAgent(situation: Situation, asked: unknown): GeneratedRow | undefined {
  const { sequence, send } = situation;
  if (asked !== send.agentId) return undefined;
  if (sequence.agents.length === 0) return 'no-agents';
  return speaksAs(situation, 'second-agent') ? 'speaking-agent' : undefined;
}

function speaksAs({ sequence, send }: Situation, id: string): boolean {
  return send.agentId === id && sequence.agents.some((agent) => agent['id'] === id);
}

/** A 409 whose body the plugin cannot read. */
function isSpoiled({ sends: { status, body = '', hangs } }: Send): boolean {
  if (status !== 409) return false;
  if (hangs !== undefined) return true;
  try {
    return JSON.parse(body) === null;
  } catch {
    return true;
  }
}

function isDot({ at }: Send): boolean {
  return at.threadId === '..';
}

function samePlace(one: Heard['at'], two: Send['at']): boolean {
  return one.conversationId === two.conversationId && String(one.threadId) === String(two.threadId);
}

function heardBefore({ steps }: OwnershipSequence, at: number): Heard[] {
  const heard: Heard[] = [];
  let agoMs = 0;
  for (const step of steps.slice(0, at).reverse()) {
    if ('passMs' in step) agoMs += step.passMs;
    else if ('sends' in step) agoMs += step.sends.hangs === undefined ? 0 : 3_000;
    else if (agoMs <= ttlMs && step.at.channel === 'slack' && step.at.threadId !== undefined)
      heard.push(step);
  }
  return heard;
}
