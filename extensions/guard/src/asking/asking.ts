import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ApprovalQuestion, type ExtensionApi, isSluiceError } from 'sluice';
import type { Question, QuestionEnd } from 'sluice/extension';
import type { AskedAbout, AskReply } from 'sluice-judge';
import type { Approver, GuardConfig } from '../config.js';
import { type CallContext, Unanswered } from '../judging/judge.js';
import { guardTexts } from './texts.js';
import {
  approverText,
  digestOf,
  mayAnswer,
  optionIds,
  questionText,
  type SayGuard,
} from './words.js';

/** The place that is asked. */
type Place = NonNullable<GuardConfig['ask']>;

/** The data of a question, which its end comes with. */
interface AskedData {
  readonly id: string;
  /** Of the agent, its session, the folder, the rule, the tool and its exact arguments. */
  readonly call: string;
  /** Of the rule, the tool, its exact arguments and the repository. */
  readonly repository: string;
  readonly content: string;
  readonly of: Approver;
  readonly untilMs: number;
  /** Answers of somebody else. */
  readonly refusals: number;
}

/** The row of a call in the store. A yes is taken once, or is there for the session; a no holds for a while. */
interface Row {
  readonly id: string;
  readonly state: 'asked' | 'allowed' | 'denied' | 'over' | 'used';
  /** Of `asked`: its question is out. */
  readonly isSent?: boolean;
  readonly isForSession?: boolean;
  /** The one who has answered, with his reason; of `over` why there is no answer. */
  readonly words?: string;
}

/** Questions that may be open in one conversation. */
const slotCount = 16;
/** Answers of others that a question takes before it is over. */
const refusalsAtMost = 5;
const hourMs = 3_600_000;
/** Milliseconds that an answer is kept: a yes waits for the next try, a no stands. */
const keptMs = {
  once: hourMs,
  session: 7 * 24 * hourMs,
  repository: 30 * 24 * hourMs,
  deny: 300_000,
};

/**
 * Asks people about calls. A question is the journal's: its end is written into the store, bound to the exact call, whoever waits for
 * it, so that the next try finds it.
 */
export class Asking {
  readonly #api: ExtensionApi;
  readonly #place: Place;
  readonly #say: SayGuard;
  readonly #questions: readonly Question<AskedData>[];
  /** Those who wait for the answer to a call, each with its digest. */
  readonly #waiting = new Set<{ readonly call: string; readonly wake: () => void }>();
  #isStopping = false;

  /** In setup only. */
  constructor(api: ExtensionApi, place: Place) {
    this.#api = api;
    this.#place = place;
    this.#say = api.texts(guardTexts)();
    this.#questions = Array.from({ length: slotCount }, (_, slot) =>
      api.question<AskedData>(`call-${slot}`, (end) => this.#ended(end)),
    );
  }

  /** Everybody who waits is told to try again. */
  stop(): void {
    this.#isStopping = true;
    for (const { wake } of this.#waiting) wake();
  }

  /**
   * Asks about a call, and waits for the answer as long as the agent does.
   *
   * @throws Unanswered (as a rejection) if there is none until then.
   */
  async ask(
    question: ApprovalQuestion,
    { call, signal }: AskedAbout<CallContext>,
  ): Promise<AskReply> {
    const data = this.#dataOf(question, call);
    const standing = await this.#api.store.get<Row>(`repository/${data.repository}`);
    if (standing !== undefined) return { allowed: true, ...how(standing) };
    for (;;) {
      using woken = this.#waitFor(data.call, call.context.untilMs, signal);
      const row = await this.#take(data);
      if (row.state === 'allowed') return { allowed: true, ...how(row) };
      if (row.state === 'denied')
        return { allowed: false, ...(row.words !== undefined && { reason: row.words }) };
      if (row.state === 'over') throw new Unanswered(row.words);
      if (row.isSent !== true) await this.#send({ ...data, id: row.id });
      if (this.#isStopping || !(await woken.answered))
        throw new Unanswered(
          `it was asked on ${this.#place.channel}, and nobody has answered yet: try exactly this call again later`,
        );
    }
  }

  #dataOf(question: ApprovalQuestion, call: AskedAbout<CallContext>['call']): AskedData {
    const { toolName, params, context } = call;
    const { heard, codec, facts } = context;
    const { extensionId, contributionId } = question.asker;
    const exact = [extensionId, contributionId, toolName, params];
    const of = typeof question.of === 'object' ? question.of : this.#place.of;
    return {
      ...{ id: '', refusals: 0, of },
      call: digestOf([codec.agent, facts.sessionId, heard.workspaceDir, ...exact]),
      repository: digestOf([repositoryOf(heard.workspaceDir), ...exact]),
      content: questionText(this.#say, question, call, context, of),
      untilMs: this.#api.clock.now() + (question.timeoutMs ?? hourMs),
    };
  }

  /** Claims the answer of a call, or notes that a question is open. One caller alone gets an answer that allows once. */
  async #take({ call, untilMs }: AskedData): Promise<Row> {
    let found: Row | undefined;
    const ttlMs = untilMs - this.#api.clock.now() + keptMs.once;
    const kept = await this.#api.store.update<Row>(
      `call/${call}`,
      (before) => {
        found = before?.state === 'used' ? undefined : before;
        if (found === undefined) return { id: randomUUID(), state: 'asked' };
        const isTaken =
          (found.state === 'allowed' && !found.isForSession) || found.state === 'over';
        return isTaken ? { ...found, state: 'used' } : undefined;
      },
      { ttlMs },
    );
    const row = found ?? kept;
    if (row === undefined) throw new Error('the store keeps nothing');
    return row;
  }

  /** Sends a question once: its id is its key. */
  async #send(data: AskedData): Promise<void> {
    const { id: key, call, content, untilMs } = data;
    const { of: _, ...place } = this.#place;
    const timeoutMs = Math.max(1, untilMs - this.#api.clock.now());
    const options = optionIds.map((id) => ({ id, label: this.#say(id) }));
    const message = { content, format: 'plain', options, takesText: true } as const;
    for (const question of this.#questions) {
      try {
        await question.ask(place, message, { key, data, timeoutMs });
      } catch (thrown) {
        if (isSluiceError(thrown, 'question-open')) continue;
        if (!isSluiceError(thrown, 'key-conflict')) throw thrown; // else it is open, as another try has worded it
      }
      return this.#change(call, key, (row) => ({ ...row, isSent: true }), untilMs + keptMs.once);
    }
    throw new Error(`${slotCount} questions are open already: try again when one is answered`);
  }

  /** Takes the end of a question. It may come twice: each step has the same effect then. */
  async #ended(end: QuestionEnd<AskedData>): Promise<void> {
    const { data } = end;
    if (end.status !== 'answered') {
      const words =
        end.status === 'expired' ? 'no human allowed it in time' : 'its question could not be sent';
      return this.#answered(data, { state: 'over', words }, keptMs.once);
    }
    const { answer, from, principal } = end;
    const name = principal?.senderName ?? from.name ?? from.id;
    if (!mayAnswer(principal, data.of)) return this.#refuse(end, name);
    const words = `${name} on ${end.place.channel}`;
    if (answer === 'deny') return this.#answered(data, { state: 'denied' }, keptMs.deny);
    if (answer === 'allow-once')
      return this.#answered(data, { state: 'allowed', words }, keptMs.once);
    if (answer === 'allow-session') {
      const row = { state: 'allowed', isForSession: true, words } as const;
      return this.#answered(data, row, keptMs.session);
    }
    if (answer !== 'allow-repository')
      return this.#answered(data, { state: 'denied', words: answer }, keptMs.deny);
    const row: Row = { id: data.id, state: 'allowed', words };
    await this.#api.store.set(`repository/${data.repository}`, row, { ttlMs: keptMs.repository });
    return this.#answered(data, { state: 'allowed', words }, keptMs.once);
  }

  /** Tells somebody who may not answer so, and asks again. */
  async #refuse({ id, place, data }: QuestionEnd<AskedData>, name: string): Promise<void> {
    const who = approverText(this.#say, data.of);
    const content = this.#say('not-you', { name, who });
    await this.#api.send({ ...place, content, format: 'plain', key: `refused/${id}` });
    const refusals = data.refusals + 1;
    if (refusals > refusalsAtMost)
      return this.#answered(data, { state: 'over', words: `only ${who} may answer` }, keptMs.once);
    const next = digestOf([data.id, id]);
    await this.#change(
      data.call,
      data.id,
      () => ({ id: next, state: 'asked' }),
      data.untilMs + keptMs.once,
    );
    return this.#send({ ...data, id: next, refusals });
  }

  async #answered(data: AskedData, end: Omit<Row, 'id'>, ttlMs: number): Promise<void> {
    const now = this.#api.clock.now();
    await this.#change(data.call, data.id, ({ id }) => ({ id, ...end }), now + ttlMs);
    this.#wake(data.call);
  }

  /** Changes the row of a call, if it still belongs to a question that is open. */
  async #change(
    call: string,
    id: string,
    change: (row: Row) => Row,
    untilMs: number,
  ): Promise<void> {
    const ttlMs = Math.max(1, untilMs - this.#api.clock.now());
    await this.#api.store.update<Row>(
      `call/${call}`,
      (row) => (row?.id === id && row.state === 'asked' ? change(row) : undefined),
      { ttlMs },
    );
  }

  #waitFor(call: string, untilMs: number, signal: AbortSignal) {
    const { clock } = this.#api;
    let settle: (isAnswered: boolean) => void = () => undefined;
    const answered = new Promise<boolean>((resolve) => {
      settle = resolve;
    });
    const giveUp = (): void => settle(false);
    const waiting = { call, wake: () => settle(true) };
    this.#waiting.add(waiting);
    const timer = clock.setTimeout(giveUp, Math.max(0, untilMs - clock.now()));
    signal.addEventListener('abort', giveUp);
    return {
      answered,
      [Symbol.dispose]: () => {
        clock.clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        this.#waiting.delete(waiting);
      },
    };
  }

  #wake(call: string): void {
    for (const one of this.#waiting) if (one.call === call) one.wake();
  }
}

function how({ words }: Row): { readonly how?: string } {
  return words === undefined ? {} : { how: words };
}

/** The folder of the repository that a folder lies in: the nearest one with `.git`, or itself. */
function repositoryOf(folder: string): string {
  for (let at = folder; dirname(at) !== at; at = dirname(at))
    if (existsSync(join(at, '.git'))) return at;
  return folder;
}
