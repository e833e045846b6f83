import { describe, expect, it } from 'vitest';
import { type Layout, layoutOf } from '../../../src/cli/print/layout.js';
import { stageLines, Timeline } from '../../../src/cli/run/timeline.js';
import { plainPalette } from '../../../src/cli/shell/palette.js';
import {
  cancel,
  createKernel,
  type Kernel,
  type Outcome,
  systemClock,
} from '../../../src/kernel/internal.js';
import { samplePayload } from '../../../src/testing/samples.js';

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
  return await kernel.dispatch('egress.preparing', payload);
}

describe('the timeline of a message', () => {
  it('sets stages without handlers together, and counts what repeats', () => {
    const kernel = stillKernel();
    const delta = (): Outcome =>
      kernel.dispatchSync('agent.output.delta', samplePayload('agent.output.delta'));
    const written = kernel.dispatchSync(
      'transcript.message.writing',
      samplePayload('transcript.message.writing'),
    );
    const timeline = new Timeline(layout);
    for (const outcome of [delta(), delta(), written, delta()]) timeline.add(outcome);
    expect(timeline.end('answered', 12)).toEqual([
      '  agent.output.delta ×2 · transcript.message.writing · agent.output.delta',
      '  answered, 4 dispatches, 0 handler calls, 12 ms',
    ]);
  });

  it('A8: names observers of deltas only if one fails: there are many deltas, and none has news', () => {
    const kernel = stillKernel();
    const common = {
      family: 'agent.output.delta',
      class: 'observer',
      extensionId: 'acme',
    } as const;
    const watching = [1, 2].map((id) =>
      kernel.contribute({ ...common, id: `seen-${id}`, handler: () => undefined }),
    );
    const delta = (): Outcome =>
      kernel.dispatchSync('agent.output.delta', samplePayload('agent.output.delta'));
    const seen = [delta(), delta(), delta()];
    watching[0]?.[Symbol.dispose]();
    const others = [delta(), delta()];
    kernel.contribute({
      ...common,
      id: 'throws',
      handler: () => {
        throw new Error('no luck');
      },
    });
    const timeline = new Timeline(layout);
    for (const outcome of [...seen, ...others, delta(), delta()]) timeline.add(outcome);
    expect(timeline.end('answered', 1)).toEqual([
      '  agent.output.delta ×5',
      ...[1, 2].flatMap(() => [
        '  agent.output.delta passed',
        '    acme/seen-2  observer  nothing  0.0 ms',
        '    acme/throws  observer  failed (threw)  0.0 ms',
        '    acme/throws failed open: threw, no luck',
      ]),
      '  answered, 7 dispatches, 12 handler calls, 1.0 ms',
    ]);
  });

  it('B4: is laid out as wide as the terminal is when it is printed', () => {
    const shell = { width: 80 };
    const timeline = new Timeline(layoutOf(shell, plainPalette));
    const kernel = stillKernel();
    kernel.contribute({
      family: 'transcript.message.writing',
      class: 'mutator',
      extensionId: 'an-extension',
      id: 'with-a-name',
      handler: () => undefined,
    });
    timeline.add(
      kernel.dispatchSync(
        'transcript.message.writing',
        samplePayload('transcript.message.writing'),
      ),
    );
    shell.width = 40;
    const lines = timeline.end('answered', 1);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(lines.length).toBeGreaterThan(3);
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
    const timeline = new Timeline(layout);
    timeline.add(await preparing(kernel));
    const text = timeline.end('cancelled', 1).join('\n');
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
