import type {
  AnnotationsOf,
  ClassOf,
  Clock,
  FamilyAllowing,
  FamilyName,
  Handler,
  HandlerClass,
  HandlerOf,
  Logger,
  OptionsOf,
  PatchOf,
} from 'sluice-kernel';
import type { ScheduleHandler, ScheduleTimes } from '../named/schedule.js';
import type { Added, AddedRun, Schedule } from './added-times.js';
import type { ExtensionKernel, ExtensionTap, TapListeners } from './extension-host.js';
import type { CallWithMessage, MessagePlace } from './place.js';
import type { ProvisionKind, Provisions } from './provisions.js';
import type { Question, QuestionHandler } from './question.js';
import type { Undo } from './scope.js';
import type { ExtensionMessage, InjectOptions, KeptSend, LaterMessage } from './send.js';
import type { ExtensionStore } from './store.js';
import type { SayTo, TextRows } from './texts.js';

/** Never made: an error of the compiler shows the words, and the names that there are. */
interface Unfit<Words extends string, Names> {
  readonly unfit: [Words, Names];
}

/** A family whose stage allows the class. */
type FamilyFor<F extends string, C extends HandlerClass> = F extends FamilyName
  ? C extends ClassOf<F>
    ? F
    : Unfit<`${F} has no ${C}`, ClassOf<F>>
  : Unfit<
      `there is no family ${F}`,
      F extends `${infer Area}.${infer Rest}`
        ? FamilyName & (`${Area}.${string}` | `${string}.${Rest}`)
        : FamilyName
    >;

/** The names of what a handler of a class may return for a family. */
type Names<F extends FamilyName, C extends HandlerClass> = C extends 'mutator'
  ? keyof PatchOf<F>
  : C extends 'augmenter'
    ? keyof AnnotationsOf<F>
    : PropertyKey;

/** The names of a result that are none of these. */
type Surplus<Result, Allowed> = Result extends object
  ? Exclude<keyof Result, Allowed> & string
  : never;

/** A handler whose result has the names of its family: the compiler itself lets others pass beside one that fits. */
type Fit<F extends FamilyName, C extends HandlerClass, H, R> = [
  Surplus<Awaited<R>, Names<F, C>>,
] extends [never]
  ? H
  : (
      ...given: never
    ) => R & Unfit<`${F} has no .${Surplus<Awaited<R>, Names<F, C>>}`, `.${Names<F, C> & string}`>;

/**
 * Registers a handler of one class. Only families whose stage allows the class compile, and results whose names the family has; on a
 * sync-sequential family an async handler does not.
 *
 * @param id the contribution's name, unique within the extension.
 * @throws SluiceError `bad-options`, or `setup-ended` once setup has ended.
 */
export interface Register<C extends HandlerClass> {
  <F extends string, R = unknown>(
    family: FamilyAllowing<C> | FamilyFor<F, C>,
    id: string,
    handler: Fit<F & FamilyName, C, Handler<F & FamilyName, C>, R>,
  ): void;
  <F extends string, X extends boolean = false, R = unknown>(
    family: FamilyAllowing<C> | FamilyFor<F, C>,
    id: string,
    options: OptionsOf<F & FamilyName, C, X>,
    handler: Fit<F & FamilyName, C, HandlerOf<F & FamilyName, C, X>, R>,
  ): void;
}

/**
 * The argument of an extension's `setup` (spec §13). Its registrations go live together when setup has ended, and one dispose
 * undoes all of them with their resources. The methods may be taken out of the object.
 */
export interface ExtensionApi {
  readonly extensionId: string;
  /** The host's logger, with the extension's id. */
  readonly log: Logger;
  /** The host's clock: use it for timers, and a test can turn it. */
  readonly clock: Clock;
  /**
   * Watches a stage. Returns nothing.
   *
   * @example
   * api.observe('egress.sent', 'count', () => void count++);
   */
  readonly observe: Register<'observer'>;
  /**
   * Adds annotations, which later handlers and later stages see.
   *
   * @example
   * api.augment('ingress.normalized', 'language', () => ({ language: 'en' }));
   */
  readonly augment: Register<'augmenter'>;
  /**
   * Changes the payload by a patch.
   *
   * @example
   * api.mutate('egress.preparing', 'sign', { preview: 'ok' }, ({ payload }) => ({ content: `${payload.content}\n-- Acme` }));
   */
  readonly mutate: Register<'mutator'>;
  /**
   * Cancels what the stage is about, or lets it pass.
   *
   * @example
   * api.veto('egress.preparing', 'night', { failClosed: true }, ({ event }) =>
   *   isNight(event.occurredAt) ? cancel('quiet-hours') : allow());
   */
  readonly veto: Register<'veto'>;
  /**
   * Proposes where something goes.
   *
   * @example
   * api.resolve('routing.resolving', 'billing', () => select({ agentId: 'billing' }));
   */
  readonly resolve: Register<'resolver'>;
  /**
   * Gives the host something besides handlers: a channel, an agent, a chat command. Like a handler it goes live when
   * setup has ended; the host lets go of it when the extension is unloaded.
   *
   * @throws SluiceError `setup-ended` once setup has ended.
   * @example
   * api.provide('channel', pigeonChannel({ token: config.token }));
   */
  provide<K extends ProvisionKind>(kind: K, value: Provisions[K]): void;
  /**
   * Hangs a resource on the extension: it is undone when the extension is unloaded, or when its setup fails.
   * The last resource is undone first.
   *
   * @param label a name of the resource for people.
   * @param resource a disposable, or the function that undoes it. Undoing may be async.
   * @returns the resource, as it came.
   * @throws SluiceError `scope-disposed` when the extension is gone; the resource is then undone at once.
   * @example
   * const server = api.own('http server', createServer(answer).listen(0));
   * const timer = api.clock.setTimeout(poll, 60_000);
   * api.own('poll timer', () => api.clock.clearTimeout(timer));
   */
  own<T extends Undo>(label: string, resource: T): T;
  /**
   * The memory of the extension: values by key, over restarts if the host has a journal. At any time, also in handlers.
   *
   * @example
   * const count = await api.store.update<number>('count', (before = 0) => before + 1);
   */
  readonly store: ExtensionStore;
  /**
   * Sends a message, through `egress.preparing` and under a permit as any other. At any time while the host runs. With a
   * `key` it goes out once, however often it is asked for.
   *
   * @returns when it is judged and kept: with a journal, a crash does not lose it.
   * @throws SluiceError (as a rejection) `not-granted`, `no-host`, `bad-payload`, `key-conflict`, `too-many-sends` or `not-kept`.
   * @example
   * const { ended } = await api.send({ channel: 'telegram', to: '42', content: 'Tea!', key: 'tea/2026-03-15' });
   * if ((await ended).status !== 'sent') api.log.warn('there is no tea');
   */
  send(message: ExtensionMessage & { readonly at?: never }): Promise<KeptSend>;
  /**
   * Keeps a message, and sends it at its time, also after a restart. A key that is kept already keeps its first time. No promise of
   * the end is offered, because it would not outlive its process.
   *
   * @throws SluiceError (as a rejection) `bad-time` or `schedule-full`, and as without `at`.
   * @example
   * await api.send({ channel: 'telegram', to: '42', content: 'Tea!', at: api.clock.now() + 600_000, key: 'tea' });
   */
  send(message: LaterMessage): Promise<Added<ExtensionMessage>>;
  /**
   * Answers the message of a call in its place, after the call: as `api.send` to `placeOf` of its message.
   *
   * @throws SluiceError (as a rejection) as `send`.
   * @example
   * api.observe('routing.resolved', 'hello', async (call) => void (await api.reply(call, 'One moment, please.')));
   */
  reply(
    call: CallWithMessage,
    said: string | Omit<ExtensionMessage, keyof MessagePlace | 'after'>,
  ): Promise<KeptSend>;
  /**
   * The messages that wait for their time.
   *
   * @example
   * for (const { key } of await api.laterSends.list()) await api.laterSends.cancel(key);
   */
  readonly laterSends: Omit<Schedule<ExtensionMessage>, 'add'>;
  /**
   * Registers a question that people are asked in their chats. The handler gets each answer, also after a restart: then in
   * the version that is loaded, so the name says what was asked. In setup only; `ask` may be called at any time.
   *
   * @throws SluiceError `setup-ended`, or `bad-registration`.
   * @example
   * const confirm = api.question<{ build: string }>('deploy', async (end) => {
   *   if (end.status === 'answered' && end.answer === 'Yes') await deploy(end.data.build);
   * });
   * const question = { content: 'Deploy build 4711?', options: ['Yes', 'No'] };
   * await confirm.ask({ channel: 'telegram', to: '42' }, question, { data: { build: '4711' } });
   */
  question<Data = undefined>(name: string, handler: QuestionHandler<Data>): Question<Data>;
  /**
   * Writes a text into the transcript of a session, behind the turn that runs there: the next turn has it before its message.
   * It passes `transcript.message.writing` as any other entry. With a `key` it is written once.
   *
   * @returns when it is kept: with a journal, a crash does not lose it.
   * @throws SluiceError (as a rejection) `not-granted`, `no-host` or `not-kept`.
   * @example
   * await api.inject('main', 'The build of 14:02 has failed.', { key: 'build/1402' });
   */
  inject(sessionKey: string, text: string, options?: InjectOptions): Promise<void>;
  /**
   * Registers a schedule without times: they are added while the host runs, in a handler, a command or a tool.
   * @example
   * const reminders = api.schedule<{ text: string }>('remind', ({ data }) => api.inject('main', data.text));
   * await reminders.add({ at: '2026-03-15T09:00Z', key: 'dentist', data: { text: 'The dentist at ten.' } }); // later
   */
  schedule<Data = undefined>(
    name: string,
    handler: (run: AddedRun<Data>) => unknown,
  ): Schedule<Data>;
  /**
   * Runs something at times of the clock: again and again by a cron expression, or once. Registered in setup, live when setup
   * has ended. With a journal a run that was begun is not lost, and each due time is run once. Runs of one schedule never overlap.
   * A run that is due while none of its hosts can begin it within 60 s is left out, unless `misfire` is `once`.
   *
   * @param name unique among the schedules of the extension: a schedule belongs to its name over reloads and restarts.
   * @throws SluiceError `bad-registration`, `setup-ended`, or `no-host`; needs the grant `schedule`.
   * @example
   * api.schedule('tea', { cron: '0 16 * * 1-5', timeZone: 'Europe/London' }, async ({ id }) => {
   *   await api.send({ channel: 'telegram', to: '42', content: 'Tea!', key: id });
   * });
   */
  schedule(name: string, times: ScheduleTimes, handler: ScheduleHandler): void;
  /**
   * Listens to all that the host does, without a part in it: for an exporter of metrics, say. Called in setup, it hears from when
   * setup has ended until the extension is unloaded. A listener that throws is logged, and changes nothing. Facts hold the texts
   * of people and the settings of others, so it always needs the grant `tap`.
   *
   * @param listeners of facts, failures and late results; without them the tap reads figures alone.
   * @throws SluiceError `setup-ended`.
   * @example
   * let failures = 0;
   * const watched = api.tap({
   *   fact: (fact) => {
   *     if (fact.kind === 'send') api.log.info(`${fact.id}: ${fact.state}`);
   *   },
   *   failure: () => void failures++,
   * });
   * const { stats } = await watched.figures(); // later, while the host runs
   */
  tap(listeners?: TapListeners): ExtensionTap;
  /**
   * Takes the sentences that the extension says to people, in English. An operator may replace each of them by language, in `texts` of
   * the config under `extension/key`. In setup, once.
   *
   * @returns the function that speaks to the sender of a message, in his language if his channel says it.
   * @example
   * const sayTo = api.texts({ 'too-long': 'Please write at most {count} words.' });
   * api.veto('routing.resolving', 'short', { failClosed: true }, ({ payload: { message } }) =>
   *   message.content.length < 900 ? allow() : cancel('policy', { reply: sayTo(message)('too-long', { count: 150 }) }));
   */
  texts<const Rows extends TextRows>(rows: Rows): SayTo<Rows>;
  /** The kernel of the host, for what comes to the extension from outside. */
  readonly kernel: ExtensionKernel;
  /**
   * A folder for the files of this extension alone, made when it is first read. It lies beside the journal; a host without
   * a journal removes it when it stops.
   *
   * @throws SluiceError `no-host` if the extension was loaded without a host, or `state-dir` if the folder cannot be made.
   * @example
   * await writeFile(join(api.stateDir, 'model.bin'), bytes);
   */
  readonly stateDir: string;
  /**
   * Makes a path of the configuration absolute: a relative one is read from the folder of the config file, or from the
   * working folder if the extension was named on the command line.
   *
   * @example
   * const words = await readFile(api.resolvePath(config.wordList), 'utf8');
   */
  resolvePath(path: string): string;
  /**
   * Counts a file as one of the extension's, by the path of `resolvePath`: `sluice run --watch` reloads it when that changes.
   *
   * @throws SluiceError `setup-ended`.
   * @example
   * api.reloadOn(config.wordList);
   */
  reloadOn(path: string): void;
}
