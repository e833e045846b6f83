import type { Given, Kernel, Outcome } from 'sluice-kernel';
import { eitherOf } from './either.js';
import { checkOptions, type JudgeOptions, type ModelCall, splitFacts } from './options.js';

/** A call of a model, as a framework is about to make it. */
export interface IncomingModelCall extends ModelCall {
  /** The conversation in the framework's own messages, oldest first. */
  readonly messages: readonly object[];
  /** Only if it is not one of the messages. */
  readonly systemPrompt?: string | undefined;
  /** Aborted when the framework does not wait for the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/** A part of an answer. Arguments that are no object are told as none, and stay none. */
export interface AnswerPart extends Readonly<Partial<Record<'text' | 'params', unknown>>> {
  readonly type: 'text' | 'thinking' | 'call';
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
}

/** Fields of something that a framework has made. */
export type Loose = Readonly<Record<string, unknown>>;

/** The answers of a framework's models. */
export interface AnswerShape<Answer> {
  readonly blocks: (answer: Answer) => readonly object[];
  /** Nothing of a block that is not judged: it is left out of an answer that changes. */
  readonly read: (block: Loose) => AnswerPart | undefined;
  readonly write: (part: AnswerPart) => object;
  /** An answer of other blocks, of which no other part may tell what it was. There is no `answer` if the model was not called. */
  readonly remade: (blocks: object[], answer: Answer | undefined) => Answer | Promise<Answer>;
}

/**
 * Makes the judge of the models of an adapter. It judges a call of a model (`agent.llm.calling`), makes it, and judges its answer
 * (`agent.llm.returning`).
 *
 * `ask` makes the call. If `isHeld`, nothing of the answer may be shown before it is judged; else nobody judges it. The judge rejects
 * only as `ask` does. It gives the answer of `ask` itself if nothing has changed.
 *
 * @throws TypeError if an option is wrong.
 */
export function modelJudge<Answer>(
  kernel: Kernel,
  options: JudgeOptions<never>,
  { blocks, read, write, remade }: AnswerShape<Answer>,
) {
  const checked = checkOptions(kernel, options);
  const said = (text: string) => [write({ type: 'text', text })]; // without calls it ends the turn
  return async (
    call: IncomingModelCall,
    ask: (isHeld: boolean) => PromiseLike<Answer>,
  ): Promise<Answer> => {
    const isHeld = kernel.has('agent.llm.returning');
    if (!isHeld && !kernel.has('agent.llm.calling')) return await ask(false);
    using stop = eitherOf(checked.signal, call.signal);
    const passed = await calling(call, stop.given).catch(() => withheld);
    if (typeof passed === 'string') return await remade(said(passed), undefined);
    const answer = await ask(isHeld);
    const left = isHeld ? await returning(answer, passed).catch(() => said(withheld)) : undefined;
    return left === undefined ? answer : await remade(left, answer);
  };

  async function calling(call: IncomingModelCall, heeded: Given) {
    const { provider, model, context, messages } = call;
    const { run, envelope } = splitFacts(await checked.given({ provider, model, context }));
    const fields = { runId: crypto.randomUUID(), ...run, provider, model };
    const given: Given = { ...envelope, ...heeded };
    if (!kernel.has('agent.llm.calling')) return { fields, given };
    const prompt = wordsBy(messages, 'user', 'human') ?? '';
    const { systemPrompt = wordsBy(messages, 'system') } = call;
    const system = systemPrompt === undefined ? {} : { systemPrompt };
    const payload = { ...fields, ...system, prompt, messages: [...messages] };
    const outcome = await kernel.dispatch('agent.llm.calling', payload, given);
    return whyKept(outcome) ?? { fields, given: { ...given, after: outcome } };
  }

  async function returning(
    answer: Answer,
    { fields, given }: Exclude<Awaited<ReturnType<typeof calling>>, string>,
  ): Promise<object[] | undefined> {
    const all = blocks(answer).map((block) => ({ block, part: read(Object(block)) }));
    const of = (type: AnswerPart['type']) => all.filter(({ part }) => part?.type === type);
    const words = (type: AnswerPart['type']) =>
      of(type)
        .map(({ part }) => part?.text)
        .join('');
    const own = of('call').map(({ block, part: { params, toolCallId, toolName } = {} }) => {
      const isRead = Object(params) === params && !Array.isArray(params);
      const names = { toolCallId: String(toolCallId), toolName: String(toolName) };
      return {
        block,
        isRead,
        call: { ...names, params: JSON.parse(isRead ? JSON.stringify(params) : '{}') },
      };
    });
    const [text, thinking, calls] = [words('text'), words('thinking'), own.map(({ call }) => call)];
    const payload = { ...fields, text, ...(thinking && { thinking }), calls, streaming: false };
    const outcome = await kernel.dispatch('agent.llm.returning', payload, given);
    const kept = whyKept(outcome);
    if (kept !== undefined) return said(kept);
    const left = outcome.payload;
    if (left === outcome.event.payload && own.every(({ isRead }) => isRead)) return undefined;
    const called = left.calls.map((call) => {
      const at = own.findIndex((one) => one.call.toolCallId === call.toolCallId);
      const [mine] = at < 0 ? [] : own.splice(at, 1);
      const toolCallId = mine === undefined ? crypto.randomUUID() : call.toolCallId;
      if (JSON.stringify(mine?.call) !== JSON.stringify(call))
        return write({ ...call, type: 'call', toolCallId });
      return mine?.isRead ? mine.block : write({ ...call, type: 'call', params: null });
    });
    const thoughts =
      (left.thinking ?? '') === thinking ? of('thinking').map(({ block }) => block) : [];
    return [
      ...thoughts,
      ...(left.text === '' && called.length > 0 ? [] : said(left.text)),
      ...called,
    ];
  }
}

const withheld = '[withheld: a handler that guards answers failed]';

/** The words in the place of what was kept back: as a host has them. */
function whyKept(outcome: Outcome<'agent.llm.calling'> | Outcome<'agent.llm.returning'>) {
  if (outcome.status === 'passed') return undefined;
  if (outcome.status === 'failed') return withheld;
  return outcome.cancel.reply ?? `[withheld: ${outcome.cancel.code}]`;
}

/** The words of the last message of somebody, in the shapes that frameworks have. */
function wordsBy(messages: readonly object[], ...names: string[]): string | undefined {
  const last = messages.findLast((one: { role?: string; type?: string }) =>
    names.includes(one.role ?? one.type ?? ''),
  );
  return last && wordsOf(last);
}

/** The words of a message, also those of a refusal and those that are spoken. */
export function wordsOf({ content }: { readonly content?: unknown }): string {
  const wordOf = (part: unknown): unknown => {
    const { text, refusal, transcript = '' }: Loose = Object(part);
    return typeof part === 'string' ? part : (text ?? refusal ?? transcript);
  };
  return [content].flat().map(wordOf).join('');
}
