import type { LegacyPlugin, UnsupportedCall } from '../../../../src/openclaw/index.js';
import type { Fields } from '../corpus.js';
import type { TrialJob } from './found.js';

/** Milliseconds after which a call counts as one that does not end. It is no measure: a call ends at once, or never. */
const callTimeoutMs = 30_000;
const outsideTimeoutMs = 20_000;

/** Writes down what became of the calls of a plugin. */
export class Trial {
  readonly calls: Record<string, string> = {};
  /** The texts and numbers of the answers so far, by the names of their fields. */
  readonly #answered = new Map<string, string>();
  /** The members that the plugin asked for in vain. */
  readonly refused = new Set<string>();
  readonly #job: TrialJob;
  readonly #plugin: LegacyPlugin | undefined;
  readonly #complaints: readonly string[];

  /**
   * @param job names the temporary folder, which is left out of all texts.
   * @param complaints the warnings and errors that were logged. The list grows.
   */
  constructor(job: TrialJob, plugin: LegacyPlugin | undefined, complaints: readonly string[]) {
    this.#job = job;
    this.#plugin = plugin;
    this.#complaints = complaints;
    this.#takeRefused();
  }

  /**
   * Calls something of the plugin. `call` gives how it ended, or nothing if it worked. It did not work if it asked for a
   * member that is not here, or if the plugin complains in the log: many plugins catch their own errors.
   */
  async ends(
    name: string,
    call: () => Promise<string | undefined>,
    timeoutMs = callTimeoutMs,
  ): Promise<void> {
    this.#takeRefused();
    const before = this.#complaints.length;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, 'does not end');
    });
    let end: string | undefined;
    try {
      end = await Promise.race([call(), late]);
    } catch (error) {
      end = `fails: ${error instanceof Error ? error.message : String(error)}`;
    }
    clearTimeout(timer);
    const asked = this.#takeRefused();
    const [complaint] = this.#complaints.slice(before);
    const saysItself = /^(?:tool|route) /.test(name); // its answer counts, and other hooks run beside it
    const isCalm = this.#plugin?.channels.length === 0 && !saysItself; // an account without its server complains at any time
    if (complaint !== undefined && isCalm) end = `complains: ${complaint}`;
    const lacks = this.#lacks(name);
    if (lacks !== undefined && (end !== undefined || name in this.#job.needs))
      end = `not tried: needs ${lacks}`;
    if (asked.length > 0) end = `refused: ${asked.join(', ')}`;
    this.calls[name] = this.plain(end ?? 'works');
  }

  /** The same from outside of a host, in less time. A call that the job says needs something is not made. */
  async endsOutside(name: string, call: () => Promise<string | undefined>): Promise<void> {
    const lacks = this.#job.needs[name];
    if (lacks === undefined) await this.ends(name, call, outsideTimeoutMs);
    else this.calls[name] = `not tried: needs ${lacks}`;
  }

  /** Starts the host, and with it the services of the plugin. */
  async services(plugin: LegacyPlugin, start: () => Promise<void>): Promise<void> {
    await start();
    const asked = this.#takeRefused();
    const end = asked.length === 0 ? 'starts' : `refused: ${asked.join(', ')}`;
    for (const { id } of plugin.services) {
      const failed = plugin.diagnostics.find(({ message }) =>
        message.startsWith(`service "${id}": start`),
      );
      this.calls[`service ${id}`] = this.plain(failed?.message ?? end);
    }
  }

  /** Remembers the fields of an answer, also of one that is JSON, for the calls after it. */
  answered(given: unknown): void {
    let answer = given;
    if (typeof given === 'string')
      try {
        answer = JSON.parse(given) as unknown;
      } catch {
        return;
      }
    for (const [name, value] of Object.entries(Object(answer) as object))
      if (typeof value === 'object') this.answered(value);
      else this.#answered.set(name, String(value));
  }

  /** The place of a call among those that the corpus has inputs for; the others come after them. */
  placeOf(name: string): number {
    const names = Object.keys(this.#job.inputs);
    return names.includes(name) ? names.indexOf(name) : names.length;
  }

  /** The input of a call, `@NAME@` in it replaced by that field of the last answer that had it. */
  inputOf(name: string): Fields | undefined {
    const given = this.#job.inputs[name];
    if (given === undefined) return undefined;
    const known = (whole: string, field: string): string => this.#answered.get(field) ?? whole;
    return JSON.parse(JSON.stringify(given).replaceAll(/@(\w+)@/g, known)) as Fields; // as it was
  }

  #lacks(name: string): string | undefined {
    const { needs } = this.#job;
    const group = Object.keys(needs).find(
      (key) => key.endsWith('*') && name.startsWith(key.slice(0, -1)),
    );
    return needs[name] ?? (group === undefined ? undefined : needs[group]);
  }

  /** Lists the channels of the plugin: their accounts have been started, and find no server here. */
  channels(plugin: LegacyPlugin): void {
    for (const { id } of plugin.channels)
      this.calls[`channel ${id}`] = this.#job.talks
        ? 'talks both ways'
        : `not tried: needs ${this.#lacks(`channel ${id}`) ?? 'a server of it'}`;
  }

  /** The members that the plugin has asked for since the last look: it tells of each once, so that its list is emptied. */
  #takeRefused(): readonly string[] {
    const calls = (this.#plugin?.unsupported ?? []) as UnsupportedCall[]; // its own list, which is written to here
    const asked = calls.splice(0).map(({ method }) => method);
    for (const method of asked) this.refused.add(method);
    return asked;
  }

  /** A text without what differs from run to run: paths, ids, ports and times. */
  plain(said: unknown): string {
    return (said instanceof Error ? said.message : String(said))
      .replace(/\s+/g, ' ')
      .replaceAll(this.#job.folder, '~')
      .replace(
        /(?:file:\/\/)?\/[^\s'"`:,)]*\/(?:node_modules|extensions)\/([^\s'"`:,)?]+)\??[^\s'"`:,)]*/g,
        '$1',
      )
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replace(/\d{4,}(?![.])/g, 'N')
      .slice(0, 160);
  }
}
