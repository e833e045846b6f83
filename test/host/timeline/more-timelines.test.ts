import { describe, expect, it } from 'vitest';
import { foldTimeline, type LiveEntry, timelineRecorder } from '../../../src/host/index.js';
import { defineExtension, type ExtensionApi } from '../../../src/index.js';
import { startTestHost, virtualClock } from '../../../src/testing/index.js';
import { approvalLab, until } from '../../support/approval-lab.js';
import { hostLab } from '../../support/host-lab.js';
import { slowly } from '../../support/slowly.js';
import { streamingChannel } from '../../support/streaming-channel.js';
import { end, said, start } from '../../support/turn-lab.js';

/** A recorder with all that it has told. */
function heardTimeline() {
  const timeline = timelineRecorder();
  const heard: LiveEntry[] = [];
  timeline.listen((entry) => void heard.push(entry));
  const steps = (id: string) =>
    heard.flatMap((entry) => (entry.kind === 'update' && entry.id === id ? [entry] : []));
  return { timeline, heard, steps };
}

describe('the entries of messages that joined', () => {
  it('are a way each: the one that joined is accepted, and ends with the message that answers it (sight §1.6)', async () => {
    const { timeline, heard, steps } = heardTimeline();
    await using test = await startTestHost({
      timeline,
      ingress: { joinWithinMs: { fake: 1_000 } },
    });
    const both = [test.say('one'), test.say('two')];
    await new Promise(setImmediate);
    await test.clock.advance(5_000);
    const [leader, joined] = await Promise.all(both);
    const { correlationId = '' } = joined ?? {};
    expect(steps(correlationId)).toMatchObject([
      { state: 'accepted' },
      { state: 'ended', outcome: 'joined', joinedTo: leader?.correlationId },
    ]);
    const timeline1 = foldTimeline(
      heard.filter((entry) => entry.correlationId === leader?.correlationId),
    );
    expect(timeline1).toMatchObject({ begun: 1, end: { outcome: 'answered' }, sends: [{}] });
  });
});

describe('the entries of a job', () => {
  it('are those of an update that ends as a job (sight §1.6)', async () => {
    const { timeline, heard } = heardTimeline();
    const made: { api?: ExtensionApi } = {};
    const acting = defineExtension({
      id: 'acting',
      setup: (api) => {
        made.api = api;
      },
    });
    await using test = await startTestHost({ timeline, extensions: [acting] });
    await test.say('hello');
    const { sessionKey = '' } = test.ends[0] ?? {};
    const before = heard.length;
    await made.api?.inject(sessionKey, 'the build has failed');
    await test.clock.advance(100);
    const updates = heard
      .slice(before)
      .flatMap((entry) => (entry.kind === 'update' ? [entry] : []));
    expect(updates.map(({ state, outcome }) => [state, outcome])).toEqual([
      ['accepted', undefined],
      ['begun', undefined],
      ['ended', 'job'],
    ]);
    expect(new Set(updates.map(({ correlationId }) => correlationId)).size).toBe(1);
  });
});

describe('the entries of a streamed reply', () => {
  it('are one send from its opening to its final (sight §1.8)', async () => {
    const { timeline, heard } = heardTimeline();
    const clock = virtualClock();
    const channel = streamingChannel();
    const events = () => [start, ...said('Hello world'), end()];
    await using lab = await hostLab({
      ...{ timeline, clock, channel, channels: [channel] },
      agents: [{ id: 'main', provider: slowly(clock, events) }],
    });
    const saying = lab.say('hello');
    await clock.advance(20_000);
    await saying;
    expect(lab.ends.map(({ status }) => status)).toEqual(['answered']);
    expect(channel.screen.length).toBeGreaterThan(0);
    const sends = heard.flatMap((entry) => (entry.kind === 'send' ? [entry] : []));
    expect(new Set(sends.map(({ id }) => id)).size).toBe(1);
    expect(sends.at(-1)).toMatchObject({ state: 'sent' });
    expect(foldTimeline(heard).sends).toHaveLength(1);
  });
});

describe('the entries of a question of a veto', () => {
  it('tell that it was asked and how it was answered, under the message that it is about (sight §1.9)', async () => {
    const { timeline, heard } = heardTimeline();
    await using lab = await approvalLab({ timeline });
    const ending = lab.say('v1');
    await until(() => lab.asked().length === 1);
    await lab.say(`!${lab.button()}`);
    await ending;
    const told = heard.flatMap((entry) => (entry.kind === 'question' ? [entry] : []));
    expect(told).toMatchObject([
      { of: 'approval', state: 'pending' },
      { of: 'approval', state: 'allowed' },
      { of: 'approval', state: 'used' },
    ]);
    const [first] = told;
    const own = heard.filter((entry) => entry.correlationId === first?.correlationId);
    expect(foldTimeline(own)).toMatchObject({
      questions: [{ id: first?.id, state: 'used' }],
      end: { outcome: 'answered' },
    });
  });
});
