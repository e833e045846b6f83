import { afterEach, describe, expect, it } from 'vitest';
import type { AgentProvider } from '../../../src/agent/index.js';
import { scriptedAgent } from '../../../src/agent/index.js';
import { type Journal, memoryJournal, openJournal } from '../../../src/host/index.js';
import { type VirtualClock, virtualClock } from '../../../src/testing/index.js';
import { type HostLab, type HostLabOptions, hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

void scriptedAgent;
void (0 as unknown as AgentProvider);
const journals: readonly [string, (clock: VirtualClock) => Promise<Journal | undefined>][] = [
  ['without a journal', async () => undefined],
  ['with a journal in memory', async (clock) => memoryJournal({ clock })],
  ['with a journal in a file', (clock) => openJournal(':memory:', { clock })],
];

describe.each(journals)('a host that joins messages, %s', (_, journalOf) => {
  it('answers quick messages of one sender by one turn (durability §10.1)', async () => {
    const clock = virtualClock();
    const journal = await journalOf(clock);
    await using lab = await hostLab({ clock, ...(journal && { journal }), ingress: { joinWithinMs: { scripted: 1_000 } } });
    void lab.channel.receive({ text: 'one' }, 'u-1');
    await clock.advance(900);
    void lab.channel.receive({ text: 'two' }, 'u-2');
    await clock.advance(900);
    void lab.channel.receive({ text: 'three' }, 'u-3');
    await clock.advance(999);
    expect(lab.texts()).toEqual([]);
    await clock.advance(1);
    console.log(lab.texts(), lab.ends, lab.log.entries?.slice(-5), await journal?.updates());
  });
});
