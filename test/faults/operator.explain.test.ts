import { describe, expect, it } from 'vitest';
import { recordedOutcome } from '../../src/host/internal.js';
import { dispatchTap } from '../../src/host/timeline/dispatch-tap.js';
import { memoryJournal } from '../../src/journal/index.js';
import { allow, canonicalStages, createKernel, type Kernel } from '../../src/kernel/internal.js';
import { samplePayload } from '../../src/testing/index.js';
import { explained } from '../support/explained.js';

const stage = canonicalStages.find(({ family }) => family === 'egress.preparing');

/** Fifty handlers of every class, of ten extensions, in an order that is not that of their names. */
function contributeFifty(kernel: Kernel): void {
  for (let at = 0; at < 50; at++) {
    const who = {
      family: 'egress.preparing' as const,
      extensionId: `ext-${at % 10}`,
      id: `h${String(at).padStart(2, '0')}`,
      priority: (at * 7) % 50,
      ...(at % 8 === 0 && { timeoutMs: 1_000 + at }),
    };
    switch (at % 5) {
      case 0:
        kernel.contribute({
          ...who,
          class: 'mutator',
          handler: ({ payload }) => ({ content: `${payload.content}+${at}` }),
        });
        break;
      case 1:
        kernel.contribute({
          ...who,
          class: 'mutator',
          handler: () => ({ metadata: { [`key${at}`]: at } }),
        });
        break;
      case 2:
        kernel.contribute({ ...who, class: 'veto', handler: () => allow() });
        break;
      case 3:
        kernel.contribute({
          ...who,
          class: 'observer',
          handler: () => {
            if (at % 2 === 0) throw new Error(`no ${at}`);
          },
        });
        break;
      default:
        kernel.contribute({ ...who, class: 'mutator', handler: () => undefined });
    }
  }
}

describe('an explanation of a dispatch with fifty handlers (fault 47, §20.6)', () => {
  const journal = memoryJournal();
  const kernel = createKernel({
    trace: true,
    tap: dispatchTap(journal),
    overrides: { 'ext-8/h08': { timeoutMs: 77 }, 'ext-4/h44': { disabled: true } },
  });
  contributeFifty(kernel);
  const dispatched = kernel.dispatch('egress.preparing', {
    ...samplePayload('egress.preparing'),
    explicit: true,
  });

  it('names every handler in run order, with its time', async () => {
    const outcome = await dispatched;
    const lines = explained(outcome);
    const planned = kernel.plan('egress.preparing').filter(({ disabled }) => !disabled);
    const called = lines.filter((line) => /^ {2}ext-\d\/h\d\d {2}\w+ {2}/.test(line));
    const first = called.slice(0, planned.length).map((line) => line.trim().split(' ')[0]);
    expect(planned).toHaveLength(49);
    expect(first).toEqual(planned.map((one) => `${one.extensionId}/${one.contributionId}`));
    for (const line of called.filter((one) => !/skipped/.test(one)))
      expect(line).toMatch(/ \d+\.\d ms/);
  });

  it('names the author of each changed path, and who wrote it before', async () => {
    const outcome = await dispatched;
    const lines = explained(outcome);
    const writers = (path: string): string[] =>
      outcome.changes.filter((one) => one.path === path).map((one) => one.contributionId);
    expect(writers('content')).toHaveLength(10);
    for (let at = 0; at < 50; at += 5)
      expect(
        lines.filter((line) =>
          line.includes(`content changed by ext-${at % 10}/h${String(at).padStart(2, '0')}`),
        ),
      ).toHaveLength(1);
    for (let at = 1; at < 50; at += 5)
      expect(
        lines.filter((line) => line.startsWith(`  metadata.key${at} changed by ext-${at % 10}/h`)),
      ).toHaveLength(1);
    expect(
      lines.filter(
        (line) => line.includes('content changed by') && line.includes('in conflict with'),
      ),
    ).toHaveLength(9);
  });

  it('says what failed with its policy, and what was skipped and why', async () => {
    const lines = explained(await dispatched);
    for (const at of [8, 18, 28, 38, 48])
      expect(lines).toContain(
        `  ext-8/h${String(at).padStart(2, '0')} failed open: threw, no ${at}`,
      );
    expect(lines.find((line) => line.includes('ext-4/h44'))).toContain('skipped (disabled)');
  });

  it('says the budget that each had, and who set it (demand 16)', async () => {
    if (stage === undefined) throw new Error('no stage');
    const lines = explained(await dispatched, { stage });
    expect(lines[1]).toBe(
      `  budget: ${stage.timeoutMs} ms a handler, ${stage.stageTimeoutMs} ms the stage`,
    );
    const of = (name: string): string | undefined =>
      lines.find((line) => line.startsWith(`  ${name}  `));
    expect(of('ext-6/h16')).toMatch(/of 1016 ms, its own$/);
    expect(of('ext-8/h08')).toMatch(/of 77 ms, set by the operator$/);
    expect(of('ext-5/h05')).toMatch(/ms$/);
    expect(of('ext-5/h05')).not.toContain('its own');
  });

  it('is the same from what a journal has kept', async () => {
    const outcome = await dispatched;
    const [record] = await journal.dispatches({ eventId: outcome.event.eventId });
    if (record === undefined) throw new Error('nothing was kept');
    expect(explained(recordedOutcome(record))).toEqual(explained(outcome));
  });
});
