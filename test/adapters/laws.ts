import type { JudgeOptions } from 'sluice-judge';
import {
  allow,
  ask,
  cancel,
  createKernel,
  type HandlerClass,
  type Kernel,
  type PayloadOf,
} from 'sluice-kernel';
import { describe, expect, it } from 'vitest';
import { virtualClock } from '../../src/testing/virtual-clock.js';
import { type LabAgent, type LabCall, type LabRun, labTools } from './lab.js';

type Calling = PayloadOf<'agent.tool.calling'>;
type Result = PayloadOf<'agent.tool.returning'>['result'];

/** Contributes a rule about calls; by default a closed veto. */
function rule(
  kernel: Kernel,
  id: string,
  handler: (call: Calling) => unknown,
  how: {
    readonly class?: HandlerClass;
    readonly failClosed?: boolean;
    readonly timeoutMs?: number;
  } = {},
): void {
  kernel.contribute({
    ...{ family: 'agent.tool.calling', class: 'veto', extensionId: 'acme', id, failClosed: true },
    ...how,
    handler: ({ payload }: { payload: Calling }) => handler(payload),
  } as never); // the tests hand over nonsense, too
}

/** Contributes a rule about results: a mutator. */
function resultRule(
  kernel: Kernel,
  handler: (result: Result) => unknown,
  how: { readonly class?: HandlerClass; readonly failClosed?: boolean } = {},
): void {
  kernel.contribute({
    ...{ family: 'agent.tool.returning', class: 'mutator', extensionId: 'acme', id: 'result' },
    ...{ failClosed: true, ...how },
    handler: ({ payload }: { payload: { result: Result } }) => handler(payload.result),
  } as never);
}

const hidden = ({ content, ...rest }: Result) => ({
  result: {
    ...rest,
    content: content.map((block) =>
      block.type === 'text'
        ? { ...block, text: block.text.replaceAll('sk-SECRET', '[hidden]') }
        : block,
    ),
  },
});

/** A function that throws. */
function throwing(message: string): () => never {
  return () => {
    throw new Error(message);
  };
}

const shell = (command: string, id = 'c1'): LabCall => ({ id, name: 'shell', args: { command } });
const list = (limit: unknown, id = 'c1'): LabCall => ({
  id,
  name: 'list',
  args: { limit, path: '.' },
});
const noRemovals = ({ params }: Calling) =>
  String(params['command']).includes('rm ') ? cancel('policy', { text: 'No removals.' }) : allow();

/** The laws that hold in each framework. @param words makes the words of a failed tool those of the tool. */
export function adapterLaws(
  framework: string,
  agent: LabAgent,
  words: (text: string | undefined) => string | undefined = (text) => text,
): void {
  /** Runs an agent with rules, and says what ran and what the model has read. */
  async function run(
    rules: (kernel: Kernel) => void,
    calls: readonly LabCall[],
    {
      options = {},
      ...more
    }: Partial<Omit<LabRun, 'options'>> & { options?: Partial<JudgeOptions> } = {},
  ) {
    const kernel = more.kernel ?? createKernel();
    rules(kernel);
    const { tools, ran } = labTools();
    const judged = { given: () => ({}), ...options };
    const results = await agent({ tools, answers: [calls], ...more, kernel, options: judged });
    return { results, ran, read: words(results['c1']) };
  }

  describe.each([
    ['whole', false],
    ['streamed', true],
  ])(`${framework}: calls of a %s answer`, (_, isStreamed) => {
    it('are refused by a veto before the tool runs, and the model reads why (§16.31)', async () => {
      const calls = [shell('rm -rf /'), shell('ls', 'c2')];
      const { ran, results } = await run((k) => rule(k, 'rm', noRemovals), calls, { isStreamed });
      expect(ran).toEqual([{ name: 'shell', params: { command: 'ls' } }]);
      expect(results).toEqual({ c1: 'No removals.', c2: 'ran ls' });
    });

    it('run with the arguments that a mutator sets, and keep the others', async () => {
      const clamp = ({ params }: Calling) => ({
        params: { limit: Math.min(10, Number(params['limit'])) },
      });
      const { ran, read } = await run(
        (k) => rule(k, 'clamp', clamp, { class: 'mutator' }),
        [list(9999)],
        {
          isStreamed,
        },
      );
      expect(ran).toEqual([{ name: 'list', params: { limit: 10, path: '.' } }]);
      expect(JSON.parse(read ?? '')).toEqual({ path: '.', limit: 10 });
    });

    it('give the model no secret of a result: of a text, of data, of a failure', async () => {
      const calls = [
        { id: 'c1', name: 'read', args: { path: 'a' } },
        { id: 'c2', name: 'env', args: { name: 'b' } },
        { id: 'c3', name: 'broken', args: { path: 'c' } },
      ];
      const { results } = await run((k) => resultRule(k, hidden), calls, { isStreamed });
      expect(results['c1']).toBe('a has [hidden] in it');
      expect(JSON.parse(results['c2'] ?? '')).toEqual({ name: 'b', value: { token: '[hidden]' } });
      expect(words(results['c3'])).toBe('the tool failed: no c, [hidden]');
      expect(JSON.stringify(results)).not.toContain('sk-SECRET');
    });

    it('are judged beside each other, each by itself', async () => {
      const calls = Array.from({ length: 20 }, (_, at) =>
        shell(at % 2 ? `rm ${at}` : `${at}`, `c${at}`),
      );
      let open = calls.length;
      let all = (): void => undefined;
      const together = new Promise<void>((resolve) => {
        all = resolve;
      });
      const waits = async (call: Calling) => {
        if (--open === 0) all();
        await together; // nobody goes on before all are here
        return noRemovals(call);
      };
      const { ran, results } = await run((k) => rule(k, 'rm', waits as never), calls, {
        isStreamed,
      });
      expect(ran).toHaveLength(10);
      expect(results['c3']).toBe('No removals.');
      expect(results['c4']).toBe('ran 4');
    });
  });

  describe(`${framework}: a result`, () => {
    it('is replaced by the text of a veto', async () => {
      const no = () => cancel('unsafe', { text: 'It was unsafe.' });
      const { read, ran } = await run((k) => resultRule(k, no, { class: 'veto' }), [shell('ls')]);
      expect([read, ran.length]).toEqual(['It was unsafe.', 1]);
    });

    it.each(['throws', 'gives nonsense'])('is withheld if a closed mutator %s', async (how) => {
      const fails = () => {
        if (how === 'throws') throw new Error('x');
        return { result: 7 };
      };
      const call = { id: 'c1', name: 'read', args: { path: 'a' } };
      const { read } = await run((k) => resultRule(k, fails), [call]);
      expect(read).toBe('withheld: a handler that guards results failed');
    });

    it('stays as it was if an open mutator throws', async () => {
      const fails = (): never => {
        throw new Error('x');
      };
      const { read } = await run((k) => resultRule(k, fails, { failClosed: false }), [shell('ls')]);
      expect(read).toBe('ran ls');
    });

    it('of a failure stays one: no mutator makes a success of it', async () => {
      const seen: boolean[] = [];
      const well = (result: Result) => {
        seen.push(result.isError);
        return {
          result: { ...result, content: [{ type: 'text', text: 'all is well' }], isError: false },
        };
      };
      const call = { id: 'c1', name: 'broken', args: { path: 'a' } };
      const { read } = await run((k) => resultRule(k, well), [call]);
      expect(words(read)).toBe('all is well');
      expect(seen).toHaveLength(1);
    });
  });

  describe(`${framework}: a handler of calls that fails`, () => {
    const failures: readonly (readonly [string, () => unknown, RegExp])[] = [
      ['throws', throwing('out of order'), /failed \(threw in acme\/guard\)$/],
      ['returns nothing', () => undefined, /failed \(bad-output in acme\/guard\)/],
      ['returns nonsense', () => 7, /failed \(bad-output in acme\/guard\)/],
    ];
    it.each(failures)('and is closed refuses the call if it %s', async (_, fails, why) => {
      const { ran, read } = await run((k) => rule(k, 'guard', fails), [shell('ls')]);
      expect(ran).toEqual([]);
      expect(read).toMatch(why);
    });

    it('and is closed refuses the call if it hangs', async () => {
      const clock = virtualClock();
      const kernel = createKernel({ clock });
      const hangs = () => {
        queueMicrotask(() => clock.advance(50));
        return new Promise(() => undefined);
      };
      const { ran, read } = await run(
        (k) => rule(k, 'guard', hangs, { timeoutMs: 50 }),
        [shell('ls')],
        { kernel },
      );
      expect(ran).toEqual([]);
      expect(read).toMatch(/failed \(timed-out in acme\/guard\)/);
    });

    it('and is open lets the call run', async () => {
      const fails = (): never => {
        throw new Error('x');
      };
      const { read } = await run(
        (k) => rule(k, 'guard', fails, { failClosed: false }),
        [shell('ls')],
      );
      expect(read).toBe('ran ls');
    });
  });

  describe(`${framework}: a question`, () => {
    const asks = (k: Kernel) => rule(k, 'ask', () => ask({ title: 'Run it?', timeoutMs: 1_000 }));

    it('that is answered with yes lets the call run, after the vetoes have judged again', async () => {
      const asked: unknown[] = [];
      let judged = 0;
      const counted = (k: Kernel) => {
        asks(k);
        rule(k, 'counts', () => {
          judged++;
          return allow();
        });
      };
      const { ran, read } = await run(counted, [shell('ls')], {
        options: {
          onAsk: (question, { call }) => {
            asked.push([question.title, call.toolName, call.params]);
            return { allowed: true, how: 'by ada' };
          },
        },
      });
      expect(asked).toEqual([['Run it?', 'shell', { command: 'ls' }]]);
      expect([ran.length, read, judged]).toEqual([1, 'ran ls', 2]);
    });

    const refusals: readonly (readonly [string, NonNullable<JudgeOptions['onAsk']>, string])[] = [
      ['is denied', () => false, 'a human denied it'],
      [
        'is denied with a reason',
        () => ({ allowed: false, reason: 'not now' }),
        'a human denied it: not now',
      ],
      ['is answered with nonsense', () => 'yes' as never, 'a human denied it'],
      ['cannot be asked', throwing('offline'), 'nobody could be asked: offline'],
    ];
    it.each(refusals)('that %s refuses the call', async (_, onAsk, why) => {
      const { ran, read } = await run(asks, [shell('ls')], { options: { onAsk } });
      expect([ran, read]).toEqual([[], why]);
    });

    it('that nobody takes refuses the call', async () => {
      const { ran, read } = await run(asks, [shell('ls')]);
      expect([ran, read]).toEqual([[], 'an approval is needed: Run it?']);
    });

    it('that nobody answers in time refuses the call', async () => {
      const clock = virtualClock();
      let over: AbortSignal | undefined;
      const onAsk: JudgeOptions['onAsk'] = (_question, { signal }) => {
        over = signal;
        queueMicrotask(() => clock.advance(1_000));
        return new Promise(() => undefined);
      };
      const { ran, read } = await run(asks, [shell('ls')], { options: { onAsk, clock } });
      expect([ran, read]).toEqual([[], 'no human allowed it in time']);
      expect(over?.aborted).toBe(true);
    });

    it('is withdrawn when the judge is stopped, and the call does not run', async () => {
      const stop = new AbortController();
      const onAsk = () => {
        queueMicrotask(() => stop.abort());
        return new Promise<boolean>(() => undefined);
      };
      const { ran, read } = await run(asks, [shell('ls')], {
        options: { onAsk, signal: stop.signal },
      });
      expect([ran, read]).toEqual([[], 'nobody waits for the answer of a human any more']);
    });

    it('is withdrawn when the run is aborted, and the call does not run', async () => {
      const stop = new AbortController();
      const ends: string[] = [];
      const onAsk = () => {
        queueMicrotask(() => stop.abort());
        return new Promise<boolean>(() => undefined);
      };
      const tells = (k: Kernel) =>
        rule(k, 'ask', () =>
          ask({ title: 'Run it?', onAnswer: (answer) => void ends.push(answer) }),
        );
      const { ran } = await run(tells, [shell('ls')], { options: { onAsk }, signal: stop.signal });
      expect([ran, ends]).toEqual([[], ['withdrawn']]);
    });
  });

  describe(`${framework}: the facts of a call`, () => {
    it('come from "given", which knows the program’s context, and go on to the result', async () => {
      const principal = {
        channel: 'web',
        accountId: 'a',
        senderId: 'ada',
        isOwner: true,
        roles: [],
      };
      const kernel = createKernel();
      const seen: unknown[] = [];
      for (const family of ['agent.tool.calling', 'agent.tool.returning'] as const)
        kernel.contribute({
          ...{ family, class: 'observer', extensionId: 'acme', id: family },
          handler: ({ payload, principal: by, event }) => {
            const { sessionId, correlationId } = event;
            seen.push([
              payload.toolName,
              payload.sessionKey,
              payload.sessionId,
              by?.senderId,
              sessionId,
              correlationId,
            ]);
          },
        });
      await run(() => undefined, [shell('ls')], {
        kernel,
        context: { user: 'ada' },
        options: {
          given: ({ context }) => ({
            principal: { ...principal, senderId: String(Object(context).user) },
            ...{ sessionId: 's-1', sessionKey: 'k-1', correlationId: 'message-1' },
          }),
        },
      });
      const fact = ['shell', 'k-1', 's-1', 'ada', 's-1', 'message-1'];
      expect(seen).toEqual([fact, fact]);
    });

    const wrongFacts: readonly (readonly [string, JudgeOptions['given'], RegExp])[] = [
      ['throws', throwing('no session'), /could not be judged: no session/],
      ['is misspelt', () => ({ pricipal: {} }) as never, /a field "pricipal", which there is not/],
      ['is no principal', () => ({ principal: { channel: 'web' } }) as never, /principal/],
    ];
    it.each(wrongFacts)('that %s refuses the call', async (_, given, why) => {
      const { ran, read } = await run(() => undefined, [shell('ls')], { options: { given } });
      expect(ran).toEqual([]);
      expect(read).toMatch(why);
    });
  });

  it(`${framework}: arguments that a handler has changed and that do not fit stop the tool`, async () => {
    const wrong = () => ({ params: { limit: 'many' } });
    const { ran } = await run((k) => rule(k, 'wrong', wrong, { class: 'mutator' }), [list(3)]);
    expect(ran).toEqual([]);
  });
}
