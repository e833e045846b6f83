import { describe, expect, it } from 'vitest';
import type { Layout } from '../../src/cli/layout.js';
import { plainPalette } from '../../src/cli/palette.js';
import { stageLines, Way } from '../../src/cli/way.js';
import {
  cancel,
  createKernel,
  type Kernel,
  type Outcome,
  systemClock,
} from '../../src/kernel/index.js';
import { samplePayload } from '../../src/testing/samples.js';

const layout: Layout = { palette: plainPalette, width: 80 };

/** A kernel whose clock stands still, so that every time is 0. */
function stillKernel(): Kernel {
  return createKernel({
    trace: true,
    clock: { ...systemClock, now: () => 0, monotonicMs: () => 0 },
  });
}

async function preparing(kernel: Kernel): Promise<Outcome> {
  const payload = { ...samplePayload('egress.preparing'), explicit: true };
  return (await kernel.dispatch('egress.preparing', payload)) as unknown as Outcome; // of a narrower family
}

describe('the way of a message', () => {
  it('sets stages without handlers together, and counts what repeats', () => {
    const kernel = stillKernel();
    const delta = (): Outcome =>
      kernel.dispatchSync(
        'agent.output.delta',
        samplePayload('agent.output.delta'),
      ) as unknown as Outcome; // of a narrower family
    const written = kernel.dispatchSync(
      'transcript.message.writing',
      samplePayload('transcript.message.writing'),
    ) as unknown as Outcome; // of a narrower family
    const way = new Way(layout);
    for (const outcome of [delta(), delta(), written, delta()]) way.add(outcome);
    expect(way.end('answered', 12)).toEqual([
      '  agent.output.delta ×2 · transcript.message.writing · agent.output.delta',
      '  answered, 4 dispatches, 0 handler calls, 12 ms',
    ]);
  });

  it('shows handlers in run order, what they changed, and how they failed', async () => {
    const kernel = stillKernel();
    const common = { family: 'egress.preparing', class: 'mutator', extensionId: 'acme' } as const;
    kernel.contribute({ ...common, id: 'second', handler: () => ({ content: 'new' }) });
    kernel.contribute({
      ...common,
      id: 'first',
      priority: 1,
      handler: () => {
        throw new Error('no luck');
      },
    });
    const lines = stageLines(await preparing(kernel), layout);
    expect(lines[0]).toBe('  egress.preparing passed');
    const text = lines.join('\n');
    expect(text.indexOf('acme/first')).toBeLessThan(text.indexOf('acme/second'));
    expect(text).toContain('content changed by acme/second');
    expect(text).toContain('acme/first failed open: threw, no luck');
  });

  it('names who cancelled, and lets nothing of a text through that a terminal would obey', async () => {
    const kernel = stillKernel();
    kernel.contribute({
      family: 'egress.preparing',
      class: 'veto',
      extensionId: 'acme',
      id: 'gate',
      handler: () => cancel('policy', { text: 'not\u001b[2J now' }),
    });
    const way = new Way(layout);
    way.add(await preparing(kernel));
    const text = way.end('cancelled', 1).join('\n');
    expect(text).toContain('egress.preparing cancelled by acme/gate: policy');
    expect(text).not.toContain('\u001b');
  });

  it('keeps to its width', async () => {
    const kernel = stillKernel();
    kernel.contribute({
      family: 'egress.preparing',
      class: 'veto',
      extensionId: 'an-extension-with-a-rather-long-name',
      id: 'and-a-contribution-with-a-longer-one',
      handler: () => cancel('policy', { text: 'why '.repeat(60) }),
    });
    const narrow = stageLines(await preparing(kernel), { ...layout, width: 40 });
    expect(narrow.filter((line) => line.length > 40)).toEqual([]);
  });
});
