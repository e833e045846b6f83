import type { SessionEvent } from 'sluice/stream';
import { type VirtualClock, virtualClock } from 'sluice/testing';
import { describe, expect, it, vi } from 'vitest';
import { acpLab } from './acp-lab.js';
import { requestOf, slow, take } from './turns.js';

type Lab = ReturnType<typeof acpLab>;
const patience = { timeout: slow };

/** A turn that runs: its events as they come. */
function turnOf({ provider }: Lab, prompt: string, signal = new AbortController().signal) {
  const events: SessionEvent[] = [];
  const turn = { events, hasEnded: false, text: () => textsOf(events) };
  const running = (async () => {
    for await (const event of provider.run(requestOf(prompt, { signal }))) events.push(event);
    turn.hasEnded = true;
  })();
  return { ...turn, running, ended: () => turn.hasEnded };
}

function textsOf(events: readonly SessionEvent[]): string {
  const deltas = events.flatMap((event) =>
    event.type === 'message_update' && 'delta' in event.assistantMessageEvent
      ? [event.assistantMessageEvent.delta]
      : [],
  );
  return deltas.join('');
}

/** Waits until the prompt has been heard, and the turn waits for late words. */
const waits = (lab: Lab, clock: VirtualClock, prompt: string) =>
  vi.waitFor(() => {
    expect(lab.heard()).toContain(prompt);
    expect(clock.pending).toBeGreaterThan(0);
  }, patience);

/** Lets time pass until a turn has ended. */
async function finish(clock: VirtualClock, { running, ended }: ReturnType<typeof turnOf>) {
  while (!ended()) await clock.advance(250);
  await running;
}

const warnings = ({ log }: Lab) => log.entries.filter(({ level }) => level === 'warn');

describe('words of a program that come after the end of their prompt', () => {
  it.each([
    ['late message', 'This is the end.'],
    ['late thought', 'This is the end.'],
    ['all-late message', 'the end.'],
  ])(
    'belong to their answer if they come in a moment: %s',
    async (prompt, text) => {
      const clock = virtualClock();
      await using lab = acpLab({ clock, lateMs: 250 });
      const turn = turnOf(lab, prompt);
      await waits(lab, clock, prompt);
      lab.letSpeak();
      await vi.waitFor(() => expect(turn.text()).toBe(text), patience);
      expect(turn.ended()).toBe(false);
      await finish(clock, turn);
      expect(turn.text()).toBe(text);
      expect(warnings(lab)).toEqual([]);
    },
    slow,
  );

  it.each(['message', 'thought', 'tool'])(
    'are dropped with a warning if they come later, and never open the next answer: %s',
    async (kind) => {
      const clock = virtualClock();
      await using lab = acpLab({ clock, lateMs: 250 });
      const first = turnOf(lab, `late ${kind}`);
      await waits(lab, clock, `late ${kind}`);
      await finish(clock, first);
      const next = turnOf(lab, 'hello');
      await vi.waitFor(() => expect(clock.pending).toBeGreaterThan(0), patience); // it rests before its prompt
      lab.letSpeak();
      await vi.waitFor(() => expect(warnings(lab)).toHaveLength(1), patience);
      expect(warnings(lab)[0]?.message).toContain('after the end of its turn');
      expect(lab.heard()).not.toContain('hello');
      await clock.advance(750);
      await waits(lab, clock, 'hello');
      await finish(clock, next);
      expect(next.text()).toBe('You said: hello');
      expect(next.events.filter(({ type }) => type.startsWith('tool_'))).toEqual([]);
    },
    slow,
  );

  it(
    'block an answer that was whole for one moment, and no turn that is stopped',
    async () => {
      const clock = virtualClock();
      await using lab = acpLab({ clock, lateMs: 250 });
      const turn = turnOf(lab, 'hello');
      await waits(lab, clock, 'hello');
      await clock.advance(249);
      expect(turn.ended()).toBe(false);
      await clock.advance(1);
      await turn.running;
      await clock.advance(10_000);
      const stop = new AbortController();
      const stopped = turnOf(lab, 'and now', stop.signal);
      await waits(lab, clock, 'and now');
      stop.abort();
      await stopped.running;
      expect(stopped.events.at(-1)).toMatchObject({ type: 'agent_end', aborted: true });
    },
    slow,
  );

  it(
    'are awaited eight times at most, and not at all if the settings say so',
    async () => {
      const clock = virtualClock();
      await using lab = acpLab({ clock, lateMs: 250 });
      const turn = turnOf(lab, 'late message');
      await waits(lab, clock, 'late message');
      for (let round = 1; round <= 8; round++) {
        expect(turn.ended()).toBe(false);
        const before = turn.text();
        lab.letSpeak();
        await vi.waitFor(() => expect(turn.text()).not.toBe(before), patience);
        await clock.advance(250);
      }
      await turn.running;
      await using hasty = acpLab({ clock, lateMs: 0 });
      expect((await take(hasty, 'hello')).said).toBe('You said: hello');
    },
    slow,
  );

  it(
    'block the next prompt no longer if the clock of the machine is put back',
    async () => {
      const clock = virtualClock();
      let backMs = 0;
      const jumping = Object.assign(Object.create(clock), { now: () => clock.now() - backMs });
      await using lab = acpLab({ clock: jumping, lateMs: 250 });
      const first = turnOf(lab, 'hello');
      await waits(lab, clock, 'hello');
      await finish(clock, first);
      backMs = 3_600_000;
      const next = turnOf(lab, 'and now');
      await vi.waitFor(() => expect(clock.pending).toBeGreaterThan(0), patience); // it rests before its prompt
      expect(clock.nextMs).toBeLessThanOrEqual(750);
      await clock.advance(750);
      await waits(lab, clock, 'and now');
      await finish(clock, next);
    },
    slow,
  );
});
