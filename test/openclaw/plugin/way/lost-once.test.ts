import { AsyncResource } from 'node:async_hooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PostOffice } from '../channel-lab.js';
import { breakMembers, call, labOf, type Queue, queueOf } from './way-lab.js';

afterEach(() => vi.restoreAllMocks());

type Lab = Awaited<ReturnType<typeof labOf>>;

/** Calls a member, and swallows what it throws, as plugins do. */
async function swallowed(post: PostOffice, name: string, ...given: unknown[]): Promise<void> {
  await Promise.resolve()
    .then(() => call(post, 'text', name, ...given))
    .catch(() => undefined);
}

/** The texts that were lost, as they came. */
async function lostIn(lab: Lab): Promise<readonly unknown[]> {
  for (let second = 0; second < 100; second += 1) await lab.clock.advance(1_000);
  await vi.waitFor(() => expect(lab.ends.length).toBe(lab.of('ingress.received').length), 60_000);
  return lab
    .of('ingress.received')
    .flatMap(({ payload: { raw } }) => (raw as { cameAs?: unknown }).cameAs ?? []);
}

const isText = (member: string): boolean => member.includes('.text.');

/** Takes a text into the queue of its account, and claims it. */
async function claimed(post: PostOffice, text: string): Promise<[Queue, { id: string }]> {
  const queue = queueOf(post);
  await queue.enqueue(text, { text });
  const event = await queue.claimNext();
  if (event === null) throw new Error('nothing is claimed');
  return [queue, event];
}

describe('a text that is lost is told once, and only if it is lost (event-pipeline §17.36)', () => {
  it('if several members fail with it, also in the work on its event', async () => {
    breakMembers(isText);
    await using lab = await labOf(async (post, text) => {
      const [queue, event] = await claimed(post, text);
      await swallowed(post, 'hasControlCommand', text);
      await swallowed(post, 'chunkText', `${text}`, 100);
      await swallowed(post, 'hasControlCommand', { Body: `[post] ${text}`, RawBody: text });
      await queue.complete(event);
    });
    await lab.say('hello');
    expect(await lostIn(lab)).toEqual(['{"text":"hello"}']);
  });

  it('if several members fail with forms of it and nobody tells who has it', async () => {
    breakMembers(isText);
    await using lab = await labOf(async (post, text) => {
      await swallowed(post, 'hasControlCommand', text);
      await swallowed(post, 'hasControlCommand', { Body: `[post] ${text}`, RawBody: text });
    });
    await lab.say('hello');
    expect(await lostIn(lab)).toEqual(['{"texts":["hello"]}']);
  });

  it('but no other event that is worked on meanwhile', async () => {
    breakMembers(isText);
    await using lab = await labOf(async (post, text) => {
      const [queue, event] = await claimed(post, 'of a robot');
      await swallowed(post, 'hasControlCommand', text);
      await queue.complete(event);
    });
    await lab.say('hello');
    expect(await lostIn(lab)).toEqual(['{"texts":["hello"]}']);
  });

  it('but no event whose end could not be kept, since it is worked on again', async () => {
    const work = async (post: PostOffice, text: string): Promise<void> => {
      const [queue, event] = await claimed(post, text);
      await swallowed(post, 'hasControlCommand', text);
      await queue.complete({ ...event, claim: { token: 'of an earlier claim' } } as typeof event);
      await queue.release(event, {});
      const again = await queue.claimNext();
      await post.bring(text);
      if (again !== null) await queue.complete(again);
    };
    let isBroken = true;
    breakMembers((member) => isBroken && isText(member));
    await using lab = await labOf(async (post, text) => {
      await work(post, text);
      isBroken = false;
    });
    await lab.say('hello');
    expect([await lostIn(lab), lab.ends.map(({ status }) => status)]).toEqual([[], ['answered']]);
  });

  it('but no event whose message has another event’s short text', async () => {
    breakMembers((member) => member.endsWith('.chunkText'));
    await using lab = await labOf(async (post, text) => {
      const [queue, event] = await claimed(post, 'a long text with ok in it');
      const [, short] = await claimed(post, text);
      await post.bring(text);
      await queue.complete(short);
      await swallowed(post, 'chunkText', 'a long text with ok in it', 100);
      await queue.complete(event);
    });
    await lab.say('ok');
    expect(await lostIn(lab)).toEqual(['{"text":"a long text with ok in it"}']);
  });

  it('and each text of what came together', async () => {
    breakMembers(isText);
    await using lab = await labOf(async (post) => {
      const ingest = async (): Promise<null> => {
        await post.bring('first');
        await swallowed(post, 'hasControlCommand', 'first');
        await swallowed(post, 'hasControlCommand', 'second');
        return null;
      };
      await call(post, 'inbound', 'run', { raw: 'both', adapter: { ingest } });
    });
    await lab.say('both');
    expect(await lostIn(lab)).toEqual(['{"texts":["second"]}']);
  });

  it('but nothing that its plugin has given up itself', async () => {
    await using lab = await labOf(async (post, text) => {
      const turnAdoptionLifecycle = { abortSignal: AbortSignal.abort() };
      await call(post, 'reply', 'dispatchReplyWithBufferedBlockDispatcher', {
        ...{ ctx: { RawBody: text, Provider: 'post' }, dispatcherOptions: {} },
        replyOptions: { turnAdoptionLifecycle },
      });
    });
    await lab.say('hello');
    expect([await lostIn(lab), lab.degraded()]).toEqual([[], []]);
  });

  it('but nothing by code that fails long after it has ended', async () => {
    await using lab = await labOf(async (post) => {
      const ingest = (): null => {
        const probe = AsyncResource.bind(() => void call(post, 'line', 'probe', {}));
        lab.clock.setTimeout(probe, 150_000);
        return null;
      };
      await call(post, 'inbound', 'run', { raw: 'a challenge', adapter: { ingest } });
    });
    await lab.say('hello');
    expect(await lostIn(lab)).toEqual([]);
    await lab.clock.advance(60_000);
    expect([await lostIn(lab), lab.degraded().length]).toEqual([[], 1]);
  });

  it('also if its account stops before it is told', async () => {
    breakMembers(isText);
    const lab = await labOf((post, text) => swallowed(post, 'hasControlCommand', text));
    await lab.say('hello');
    await lab[Symbol.asyncDispose]();
    const { accepted, handling } = (await lab.journal.counts()).updates;
    expect(accepted + handling).toBe(1); // it ends with the next start
  });

  it('and the log says so if it cannot be kept', async () => {
    breakMembers(isText);
    await using lab = await labOf((post, text) => swallowed(post, 'hasControlCommand', text));
    vi.spyOn(lab.journal, 'accept').mockRejectedValue(new Error('the disk is full'));
    await lab.say('hello');
    await lab.clock.advance(10_000);
    await vi.waitFor(
      () =>
        expect(lab.logger.messages('error')).toContain(
          'post: a text that was lost could not be kept',
        ),
      60_000,
    );
  });
});
